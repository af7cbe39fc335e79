// What is held in a keyed perspective and tried again.
// In: the events of a held key, or of held streams. Out: what became of their models, as foldModels.
import {
  foldFailed,
  foldModels,
  type KeyedPerspective,
  type ModelResult,
  type StoredEvent,
  type StoredModel,
} from '../fold/index.js';
import { knownEvents, strangeEvent } from './known-events.js';

export type ReadStored = (ids: readonly string[]) => Promise<ReadonlyMap<string, StoredModel>>;
type Result = ModelResult<unknown>;
type Held = Extract<Result, { kind: 'held' }>;
type Applied = Exclude<Result, Held>;

const isHeld = (result: Result): result is Held => result.kind === 'held';

/**
 * Folds the events behind the place of a held key. An event whose keys are not known now may be one of its own: nothing
 * behind it is applied, and it fails the key, not its stream, which has had it already.
 */
export async function foldKey(
  perspective: KeyedPerspective<unknown>,
  read: ReadStored,
  events: readonly StoredEvent[],
): Promise<readonly Result[]> {
  const before = (event: StoredEvent) => events.slice(0, events.indexOf(event));
  const strange = events.find(({ type }) => !perspective.steps.has(type));
  const known = strange === undefined ? events : before(strange);
  const results = await foldModels(perspective, read, known);
  const unknown = results.filter(isHeld).filter(({ id }) => id === null);
  const places = unknown.map(({ event }) => known.indexOf(event));
  const first = unknown[places.indexOf(Math.min(...places))];
  if (first === undefined) {
    return strange === undefined || results.some(isHeld)
      ? results
      : [...results, strangeEvent(perspective, strange)];
  }
  const upToIt = await foldModels(perspective, read, before(first.event));
  return upToIt.some(isHeld) ? upToIt : [...upToIt, first];
}

/**
 * Folds events of held streams, whose keys could not be known when it was their turn. Each event is applied to all its
 * models or to none: otherwise the next retry would apply it to some of them twice.
 */
export async function foldLate(
  perspective: KeyedPerspective<unknown>,
  read: ReadStored,
  events: readonly StoredEvent[],
): Promise<readonly Result[]> {
  const { known, strange } = knownEvents(perspective, events);
  const models = new Map<string, StoredModel>();
  const applied = new Map<string, Applied>();
  const held = new Map<string, Held>();
  for (const event of known) {
    const { streamId } = event;
    if (held.has(streamId)) continue;
    let waitsFor: string | undefined;
    const before = async (ids: readonly string[]) => {
      const missing = ids.filter((id) => !models.has(id));
      if (missing.length > 0) for (const [id, model] of await read(missing)) models.set(id, model);
      waitsFor = ids.find((id) => models.get(id)?.held === true);
      return models;
    };
    const results = await foldModels(perspective, before, [event]);
    const failed = results.find(isHeld);
    if (failed !== undefined || waitsFor !== undefined) {
      const fact = `concerns the model ${waitsFor}, which is held`;
      const error = failed?.error ?? foldFailed(perspective.name, event, { fact });
      held.set(streamId, { kind: 'held', id: null, streamId, event, error });
      continue;
    }
    for (const result of results as readonly Applied[]) {
      const announcements = [...(applied.get(result.id)?.announcements ?? []), ...result.announcements];
      applied.set(result.id, { ...result, announcements });
      models.set(result.id, { model: result.model, version: result.version });
    }
  }
  return [...applied.values(), ...held.values(), ...strange.filter(({ streamId }) => !held.has(streamId))];
}
