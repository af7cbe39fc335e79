// Events become models: the pure half of a perspective.
// In: a perspective, the models as they are stored, events in the order of the log. Out: what has become of each
// model, as data. A failing event holds its own model, and the others go on. It stores nothing and sends nothing.
import type { WhizbangError } from '../errors.js';
import type { StreamId } from '../message.js';
import { finish } from '../messages/index.js';
import { foldFailed } from './fold-failed.js';
import type { KeyedPerspective, KeyedStep } from './keyed-perspective.js';
import { ModelFold, type Task } from './model-fold.js';
import type { HeldModel, ModelPerspective, ModelResult, StoredModel } from './model-result.js';
import { callFor, readEvent, type Steps } from './next-model.js';
import type { Perspective } from './perspective.js';
import type { StoredEvent } from './stored-event.js';

type StoredModels = ReadonlyMap<string, StoredModel>;

/**
 * Folds events into models. `before` has those that are stored, or reads them by their ids. The result does not
 * depend on how the events are cut into batches.
 */
export async function foldModels<Model>(
  perspective: ModelPerspective<Model>,
  before: StoredModels | ((ids: readonly string[]) => StoredModels | Promise<StoredModels>),
  events: Iterable<StoredEvent>,
): Promise<readonly ModelResult<Model>[]> {
  const { tasks, unknown } =
    perspective.kind === 'stream'
      ? tasksByStream(perspective, events)
      : await tasksByKey(perspective, events);
  const ids = [...new Set(tasks.flatMap((task) => task.ids))];
  const stored = typeof before === 'function' ? await before(ids) : before;
  const folds = new Map(ids.map((id) => [id, new ModelFold(perspective, id, stored.get(id))]));
  const applying = finish(applyAll(tasks, folds));
  if (applying instanceof Promise) await applying;
  return [...[...folds.values()].flatMap((fold) => fold.results()), ...unknown] as ModelResult<Model>[];
}

function* applyAll(tasks: readonly Task[], folds: ReadonlyMap<string, ModelFold>): Steps<void> {
  for (const task of tasks) {
    for (const id of task.ids) {
      const fold = folds.get(id);
      if (fold !== undefined) yield* fold.apply(task);
    }
  }
}

interface Tasks {
  readonly tasks: readonly Task[];
  readonly unknown: readonly HeldModel[];
}

function tasksByStream(perspective: Perspective<unknown>, events: Iterable<StoredEvent>): Tasks {
  const tasks: Task[] = [];
  for (const event of events) {
    const step = perspective.steps.get(event.type);
    if (step === undefined) continue;
    tasks.push({ event, step, ids: [event.streamId], read: () => readEvent(perspective, step, event) });
  }
  return { tasks, unknown: [] };
}

async function tasksByKey(
  perspective: KeyedPerspective<unknown>,
  events: Iterable<StoredEvent>,
): Promise<Tasks> {
  const tasks: Task[] = [];
  const unknown = new Map<StreamId, HeldModel>();
  for (const event of events) {
    const step = perspective.steps.get(event.type);
    const { streamId } = event;
    if (step === undefined || unknown.has(streamId)) continue;
    try {
      const reading = finish(readEvent(perspective, step, event));
      const payload = reading instanceof Promise ? await reading : reading;
      tasks.push({ event, step, ids: keysOf(perspective, step, event, payload), read: () => known(payload) });
    } catch (error) {
      unknown.set(streamId, { kind: 'held', id: null, streamId, event, error: error as WhizbangError });
    }
  }
  return { tasks, unknown: [...unknown.values()] };
}

/** A payload that was read already. */
function* known(payload: unknown): Steps<unknown> {
  return yield payload;
}

/** A key is a value of an index, in which PostgreSQL takes no longer ones. */
const mostKeyBytes = 2000;

function keysOf(
  perspective: KeyedPerspective<unknown>,
  { key }: KeyedStep,
  event: StoredEvent,
  payload: unknown,
): readonly string[] {
  const given = callFor(perspective, event, () => key(payload, event));
  const keys: readonly unknown[] = Array.isArray(given) ? given : [given];
  const isKey = (value: unknown) =>
    typeof value === 'string' &&
    value !== '' &&
    !value.includes('\0') &&
    value.isWellFormed() &&
    Buffer.byteLength(value) <= mostKeyBytes;
  if (keys.every(isKey)) return [...new Set(keys as readonly string[])];
  const hint = `A key is a text of 1 to ${mostKeyBytes} bytes. Return [] for an event that concerns no model.`;
  throw foldFailed(perspective.name, event, { fact: 'returned what is not a key', hint });
}
