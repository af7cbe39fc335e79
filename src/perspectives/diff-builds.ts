// The models that two builds of a perspective have made differently.
// In: a perspective. Out: a page of differences; those of equal version come first, because they are none of time.
// Called by `perspectives.diff` and the command line.
import { buildsOf, type DifferentModel, diffModels } from '../coordinator/index.js';
import type { Queryable } from '../database/index.js';
import { WhizbangError } from '../errors.js';

/** A model that differs. */
export interface ModelDifference {
  readonly id: string;
  /** Null: the build has no such model. */
  readonly version: number | null;
  readonly otherVersion: number | null;
  readonly model: unknown;
  readonly otherModel: unknown;
}

/** A page of differences. */
export interface BuildDifferences {
  /** The build that queries read, and the one that it was compared with. */
  readonly build: string;
  readonly other: string;
  readonly models: readonly ModelDifference[];
  /** Give it as `after` to go on; undefined: that was all. */
  readonly after: string | undefined;
}

/** Options of `perspectives.diff`. */
export interface DiffOptions {
  /** The build to compare with: `orders@2`. Default: the one beside, or else the one that was live before. */
  readonly build?: string | undefined;
  /** How many to return at most. Default: 100. */
  readonly limit?: number | undefined;
  /** Where the page before has ended. */
  readonly after?: string | undefined;
}

type Ask = <T>(question: (db: Queryable, schema: string) => Promise<T>) => Promise<T>;

/** How many ids are compared by a statement. */
const atOnce = 1000;

export async function diffBuilds(
  ask: Ask,
  name: string,
  { build: wanted, limit = 100, after }: DiffOptions,
): Promise<BuildDifferences> {
  const builds = await ask((db, schema) => buildsOf(db, schema, name));
  const [live, ...others] = builds;
  const other = wanted === undefined ? others[0] : others.find((each) => each.name === wanted);
  if (live === undefined || other === undefined) throw noOther(name, wanted);
  const models: ModelDifference[] = [];
  let place = readCursor(after);
  while (place !== undefined && models.length < limit) {
    const { isEqual, id } = place;
    const question = { build: live.name, other: other.name, isEqual, after: id };
    const most = Math.min(atOnce, Math.max(limit - models.length, 1));
    const part = await ask((db, schema) => diffModels(db, schema, question, most));
    models.push(...part.models.map(differenceOf));
    place =
      part.after === null
        ? isEqual
          ? { isEqual: false, id: null }
          : undefined
        : { isEqual, id: part.after };
  }
  return { build: live.name, other: other.name, models, after: place && writeCursor(place) };
}

interface Place {
  readonly isEqual: boolean;
  readonly id: string | null;
}

const writeCursor = ({ isEqual, id }: Place) => `${isEqual ? 'equal' : 'other'}:${id ?? ''}`;

function readCursor(after: string | undefined): Place | undefined {
  if (after === undefined) return { isEqual: true, id: null };
  const id = after.slice(6);
  return { isEqual: after.startsWith('equal:'), id: id === '' ? null : id };
}

const differenceOf = ({
  id,
  version,
  other_version,
  model,
  other_model,
}: DifferentModel): ModelDifference => ({
  id,
  version,
  otherVersion: other_version,
  model,
  otherModel: other_model,
});

const noOther = (name: string, build: string | undefined) =>
  new WhizbangError('INVALID_REQUEST', {
    message: `${build ?? name} has no build to compare with.`,
    hint: 'Begin a rebuild with { switchOver: false }, or give the name of a build that there is.',
    details: { name, build },
  });
