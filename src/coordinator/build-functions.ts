// The functions of sql/functions/perspectives about builds: as perspective-functions.ts.
import type { Queryable } from '../database/index.js';
import { oneRow } from './functions.js';
import type { NextBatch, PerspectiveState } from './perspective-functions.js';

type SwitchOutcome = 'switched' | 'behind' | 'busy' | 'blocked' | 'gone';

/** Makes a build the one that queries read, if it has caught up. */
export async function switchPerspective(db: Queryable, schema: string, name: string): Promise<SwitchOutcome> {
  const text = `select ${schema}.wh_switch_perspective($1::text) as outcome`;
  return (await oneRow<{ outcome: SwitchOutcome }>(db, text, [name])).outcome;
}

/** Begins to build the models of a perspective again. Version null: that of the live build. */
export async function rebuildPerspective(
  db: Queryable,
  schema: string,
  { name, version, switches }: { name: string; version: number | null; switches: boolean },
): Promise<{ readonly name: string; readonly is_new: boolean }> {
  const text = `select ${schema}.wh_rebuild_perspective($1::text, $2::text::int, $3::text::boolean)::text as build`;
  const values = [name, version === null ? null : String(version), String(switches)];
  const { build } = await oneRow<{ build: string }>(db, text, values);
  return JSON.parse(build) as { name: string; is_new: boolean };
}

/** Asks for another build to become live. Null: the one beside, or the one that was live before. */
export async function wantBuild(
  db: Queryable,
  schema: string,
  baseName: string,
  build: string | null,
): Promise<string> {
  const text = `select ${schema}.wh_want_build($1::text, $2::text) as name`;
  return (await oneRow<{ name: string }>(db, text, [baseName, build])).name;
}

export async function dropBuild(db: Queryable, schema: string, name: string): Promise<boolean> {
  const text = `select ${schema}.wh_drop_build($1::text) as is_dropped`;
  return (await oneRow<{ is_dropped: boolean }>(db, text, [name])).is_dropped;
}

/** How far a build is. */
export interface BuildProgress {
  readonly name: string;
  readonly code: string;
  readonly state: PerspectiveState;
  readonly switches: boolean;
  readonly kind: 'stream' | 'keyed' | 'custom';
  /** Numbers of events, of all that there are. */
  readonly done: number;
  readonly total: number;
  readonly is_caught_up: boolean;
  readonly events_per_second: number;
  /** How many streams, or models of keys, are held. */
  readonly held: number;
  /** How many instances have its code. */
  readonly instances: number;
}

/** Null: there is no such build. */
export async function buildProgress(
  db: Queryable,
  schema: string,
  name: string,
): Promise<BuildProgress | null> {
  const text = `select ${schema}.wh_build_progress($1::text)::text as progress`;
  const { progress } = await oneRow<{ progress: string | null }>(db, text, [name]);
  return progress === null ? null : (JSON.parse(progress) as BuildProgress);
}

/** A build of a perspective. */
export interface BuildRow {
  readonly name: string;
  readonly code: string;
  readonly kind: 'stream' | 'keyed' | 'custom';
  readonly state: PerspectiveState;
}

/** The builds of a perspective: the live one first, then those beside, then those that were live before. */
export async function buildsOf(
  db: Queryable,
  schema: string,
  baseName: string,
): Promise<readonly BuildRow[]> {
  const text = `select ${schema}.wh_builds($1::text)::text as builds`;
  const { builds } = await oneRow<{ builds: string }>(db, text, [baseName]);
  return JSON.parse(builds) as BuildRow[];
}

/** A model that two builds have made differently. Null: one of them has none. */
export interface DifferentModel {
  readonly id: string;
  readonly version: number | null;
  readonly other_version: number | null;
  readonly model: unknown;
  readonly other_model: unknown;
}

interface DiffPart {
  readonly models: readonly DifferentModel[];
  /** The last id that was looked at; null: there are no more. */
  readonly after: string | null;
}

/** Compares the next models of two builds. */
export async function diffModels(
  db: Queryable,
  schema: string,
  { build, other, isEqual, after }: { build: string; other: string; isEqual: boolean; after: string | null },
  limit: number,
): Promise<DiffPart> {
  const text = `
    select ${schema}.wh_diff_models($1::text, $2::text, $3::text::boolean, $4::text, $5::text::int)::text as part`;
  const values = [build, other, String(isEqual), after, String(limit)];
  return JSON.parse((await oneRow<{ part: string }>(db, text, values)).part) as DiffPart;
}

/** All events of streams that a build has passed, locked until the transaction ends. Null: it is in use. */
export async function takeStreams(
  db: Queryable,
  schema: string,
  build: string,
  ids: readonly string[],
): Promise<NextBatch | null> {
  const text = `select ${schema}.wh_take_streams($1::text, ${uuids('$2')})::text as batch`;
  const { batch } = await oneRow<{ batch: string | null }>(db, text, [build, JSON.stringify(ids)]);
  return batch === null ? null : (JSON.parse(batch) as NextBatch);
}

/** Stores the models that were made of them. */
export async function storeStreams(
  db: Queryable,
  schema: string,
  build: string,
  ids: readonly string[],
  results: string,
): Promise<void> {
  const text = `select ${schema}.wh_store_streams($1::text, ${uuids('$2')}, $3::text::jsonb)::text`;
  await db.query(text, [build, JSON.stringify(ids), results]);
}

const uuids = (place: string) => `array(select jsonb_array_elements_text(${place}::text::jsonb)::uuid)`;

/** Begins a perspective anew in its own place. False: it is in use. */
export async function resetPerspective(db: Queryable, schema: string, build: string): Promise<boolean> {
  const text = `select ${schema}.wh_reset_perspective($1::text) as is_reset`;
  return (await oneRow<{ is_reset: boolean }>(db, text, [build])).is_reset;
}
