// Waits until a perspective has applied what a request has written.
// In: a receipt. Out: nothing, or an error that says how far the perspective is and what holds it up.
// It asks the database by polls. Every wait ends: when the event is applied, when it is held, or when the time is over.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type EventProgress,
  eventProgress,
  type HoldRow,
  perspectiveStatus,
  readStream,
  tick,
} from '../coordinator/index.js';
import { WhizbangError } from '../errors.js';
import { foldModels, type KeyedPerspective, type StreamVersion } from '../fold/index.js';
import { type OptionTable, resolveOptions } from '../options.js';
import type { ModelAccess } from './model-access.js';
import { type AnyPerspective, codeOf } from './registry.js';

/** What was written: the receipt of `append` or `decide`, or a stream at a version. */
export interface Written extends StreamVersion {
  readonly receipts?: readonly StreamVersion[] | undefined;
}

/** Options of `model(p).waitFor`. */
export interface WaitOptions {
  /** How long to wait. Fractions are allowed. Default: 5. */
  readonly timeoutSeconds?: number | undefined;
}

const waitNumbers = {
  timeoutSeconds: { default: 5, min: 0, max: 86_400, unit: 'seconds', fractions: true },
} as const satisfies OptionTable;

const pauses = [5, 10, 20, 50];

/** The time that a wait may take, and its pauses. */
export class Patience {
  readonly seconds: number;
  readonly #end: number;
  #polls = 0;

  constructor(owner: string, options: WaitOptions, others: readonly string[] = []) {
    const { timeoutSeconds } = resolveOptions(owner, waitNumbers, { ...options }, others);
    this.seconds = timeoutSeconds;
    this.#end = performance.now() + timeoutSeconds * 1000;
  }

  /** Pauses before the next poll. False: the time is over. */
  async goesOn(): Promise<boolean> {
    const left = this.#end - performance.now();
    if (left <= 0) return false;
    await pause(Math.min(pauses[Math.min(this.#polls++, pauses.length - 1)] as number, left));
    return true;
  }
}

/** Waits until a perspective has applied everything that was written. */
export async function untilApplied(
  access: ModelAccess,
  perspective: AnyPerspective,
  written: Written,
  patience: Patience,
): Promise<void> {
  for (const event of eventsOf(written)) await untilOneApplied(access, perspective, event, patience);
}

/** What has to be applied: of each stream all events up to a version. */
export function eventsOf({ streamId, version, receipts }: Written): readonly StreamVersion[] {
  const last = new Map([[streamId, version]]);
  for (const receipt of receipts ?? []) {
    last.set(receipt.streamId, Math.max(last.get(receipt.streamId) ?? 0, receipt.version));
  }
  // Version 0 is a stream without events: there is nothing to wait for.
  return [...last].map(([id, at]) => ({ streamId: id, version: at })).filter((event) => event.version > 0);
}

async function untilOneApplied(
  access: ModelAccess,
  perspective: AnyPerspective,
  event: StreamVersion,
  patience: Patience,
): Promise<void> {
  const ask = (keys?: readonly string[]) =>
    access.ask((db, schema) => eventProgress(db, schema, codeOf(perspective), event, keys));
  for (;;) {
    let progress = await ask();
    // Its keys are asked for when it is there: before, nothing can be held because of it.
    if (progress.is_applied && perspective.kind === 'keyed') {
      progress = await ask(await keysOf(access, perspective, event));
    }
    if (progress.held != null) throw held(perspective, event, progress.held);
    if (progress.is_applied) return;
    if (!(await patience.goesOn())) throw await timedOut(access, perspective, event, progress, patience);
  }
}

/** The keys of the models that an event concerns. None, if they cannot be known: then its stream is held. */
async function keysOf(
  access: ModelAccess,
  perspective: KeyedPerspective<unknown>,
  { streamId, version }: StreamVersion,
): Promise<readonly string[]> {
  const page = { streamId, after: version - 1, limit: 1, backwards: false };
  const rows = await access.ask((db, schema) => readStream(db, schema, page));
  let keys: readonly string[] = [];
  const noModels = (ids: readonly string[]) => {
    keys = ids;
    return new Map(ids.map((id) => [id, { model: null, version: 0, held: true }]));
  };
  await foldModels(perspective, noModels, await access.read(rows));
  return keys;
}

/** The error of a model that cannot have an event, because it or its stream is held. */
export function held(
  perspective: AnyPerspective,
  { streamId, version }: StreamVersion,
  { key, version: heldVersion, event, error }: HoldRow,
  cause?: unknown,
): WhizbangError {
  const what = key === null ? `stream ${streamId}` : `the model ${key}`;
  return new WhizbangError('PERSPECTIVE_HELD', {
    message: `${perspective.name} cannot come to version ${version} of stream ${streamId}: ${what} is held at version ${heldVersion} (${event}): ${error}`,
    details: { perspective: codeOf(perspective), streamId, key, version: heldVersion, event },
    cause,
  });
}

/** The error of a wait that has taken too long. */
export async function timedOut(
  access: ModelAccess,
  perspective: AnyPerspective,
  { streamId, version }: StreamVersion,
  { is_stored, state }: Pick<EventProgress, 'is_stored' | 'state'>,
  { seconds }: Patience,
): Promise<WhizbangError> {
  const code = codeOf(perspective);
  // What has been committed is in a tick then, and counts.
  await access.ask((db, schema) => tick(db, schema));
  const [status] = await access.ask((db, schema) => perspectiveStatus(db, schema, code));
  const { lag_events: lagEvents = 0, cause = null } = status ?? {};
  const missing = `version ${version} of stream ${streamId}`;
  const why = !is_stored
    ? `${missing} is not in the store: its transaction is open, or was rolled back`
    : state === null
      ? 'no instance has registered it'
      : `it is ${lagEvents} events behind${cause === null ? '' : `, and ${cause}`}`;
  return new WhizbangError('PERSPECTIVE_TIMEOUT', {
    message: `${code} has not come to ${missing} within ${seconds} s: ${why}.`,
    details: { perspective: code, streamId, version, isStored: is_stored, state, lagEvents, cause },
  });
}
