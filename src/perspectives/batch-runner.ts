// One batch of a perspective: take, fold, store and move.
// In: a bookmark that is held, and what comes next behind it. Out: the bookmark at its next place, with what comes then.
// Called by the worker. Between the two statements nothing is locked: the move is refused if the bookmark was lost.
import {
  type BookmarkKey,
  moveBookmark,
  type NextBatch,
  noteFailure,
  readModels,
  type TakenBookmark,
  takeBookmark,
} from '../coordinator/index.js';
import {
  type ConnectionPool,
  fromDatabaseError,
  type Queryable,
  serverErrorOf,
  withPooledClient,
} from '../database/index.js';
import { describeError } from '../describe-error.js';
import type { Origin } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { CustomPerspective, ModelPerspective } from '../fold/index.js';
import type { RunWatched } from '../work/index.js';
import { type BatchOutcome, encodeResults, type FailedEvent } from './batch-results.js';
import { CustomFailure, runCustomBatch } from './custom-batch.js';
import { foldBatch } from './fold-batch.js';
import { OneByOne } from './one-by-one.js';
import type { OpenEvents } from './open-events.js';
import type { AnyPerspective } from './registry.js';
import { SweepAhead } from './sweep-ahead.js';

interface BatchRunnerOptions<Tx> {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly leaseSeconds: number;
  /** Limit of each statement. */
  readonly answerMs: number;
  readonly origin: Origin;
  readonly keys: OpenEvents;
  /** Begins the transactions of perspectives whose tables are the user's. */
  readonly transaction: RunWatched<Tx>;
  /** Makes a build live that has caught up. True: it is, and its bookmark was released. */
  readonly switchOver: (name: string) => Promise<boolean>;
  /** Called when events could not be applied. */
  readonly onHeld: (perspective: string, failed: readonly FailedEvent[]) => void;
}

interface Run {
  readonly key: BookmarkKey;
  readonly taken: TakenBookmark & { readonly next: NextBatch };
  /** Whether another batch may follow. Otherwise the bookmark is released. */
  readonly goesOn: () => boolean;
}

/** After so many deaths at one event, its stream is held instead of run. */
const mostInterruptions = 4;
const batchSizes = { stream: 500, keyed: 500, custom: 100 } as const;

export class BatchRunner<Tx> {
  readonly #options: BatchRunnerOptions<Tx>;
  readonly #oneByOne = new OneByOne();
  readonly #sweep: SweepAhead;

  constructor(options: BatchRunnerOptions<Tx>) {
    this.#options = options;
    this.#sweep = new SweepAhead({
      ask: (question) => this.#ask(question),
      read: (key, ids) => this.#ask((db, schema) => readModels(db, schema, key.name, ids)),
      fold: (perspective, batch, read) => foldBatch(perspective, batch, read, options),
    });
  }

  /** `along`: what the call that has leased it has brought along. */
  async take(perspective: AnyPerspective<Tx>, key: BookmarkKey, along?: TakenBookmark | null) {
    if (along != null && !this.#oneByOne.isOn(key)) return along;
    return this.#ask((db, schema) => takeBookmark(db, schema, key, this.#limitOf(perspective, key)));
  }

  /** Notes that a batch has failed as a whole. */
  noteFailure(key: BookmarkKey, error: string): Promise<void> {
    return this.#ask((db, schema) => noteFailure(db, schema, key, error));
  }

  /** Runs a batch. Null: the bookmark was lost. Undefined: it has to be taken again. */
  async run(perspective: AnyPerspective<Tx>, run: Run): Promise<TakenBookmark | null | undefined> {
    const { key, taken } = run;
    if (taken.next.mode === 'switch') return this.#switch(perspective, run);
    if (isDeadly(taken)) return this.#move(perspective, run, taken.next, heldWithoutRun(taken.next));
    try {
      const moved = await (perspective.kind === 'custom'
        ? this.#runCustom(perspective, run)
        : this.#fold(perspective, run));
      this.#oneByOne.passed(key);
      return moved;
    } catch (error) {
      return this.#afterFailure(perspective, run, error);
    }
  }

  /** If it cannot be done now, the bookmark is released until the next try is due. */
  async #switch(perspective: AnyPerspective<Tx>, run: Run): Promise<TakenBookmark | null> {
    if (await this.#options.switchOver(run.key.name)) return null;
    const outcome = { models: [], failed: [], messages: [] };
    return this.#move(perspective, { ...run, goesOn: () => false }, run.taken.next, outcome);
  }

  #limitOf({ kind }: AnyPerspective<Tx>, key: BookmarkKey): number {
    return this.#oneByOne.isOn(key) ? 1 : batchSizes[kind];
  }

  async #fold(perspective: ModelPerspective<unknown>, run: Run): Promise<TakenBookmark | null | undefined> {
    const { key, taken, goesOn } = run;
    const batch = taken.next;
    const isAhead =
      SweepAhead.isPossible(batch) && goesOn() && !taken.is_careful && !this.#oneByOne.isOn(key);
    const outcome = await this.#sweep.fold(perspective, key, batch, isAhead);
    try {
      const moving = this.#move(perspective, run, batch, outcome, isAhead);
      if (!isAhead) return await moving;
      const [moved, next] = await Promise.all([moving, this.#sweep.next(perspective, key, batch)]);
      if (moved?.next?.mode !== 'ahead') return moved;
      return next === null ? undefined : { ...moved, next };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      throw new RefusedModels(outcome, error);
    }
  }

  #runCustom(perspective: CustomPerspective<Tx>, { key, goesOn }: Run): Promise<TakenBookmark | null> {
    const limit = this.#limitOf(perspective, key);
    return runCustomBatch(this.#options, { perspective, key, limit, goesOn });
  }

  /**
   * An event has failed, and with it the whole batch. The next ones are then taken one by one: when the same event
   * fails again, it is held alone.
   */
  async #afterFailure(
    perspective: AnyPerspective<Tx>,
    run: Run,
    error: unknown,
  ): Promise<TakenBookmark | null | undefined> {
    const isOfCustom = error instanceof CustomFailure && !isNobodysFault(error.error);
    if (!isOfCustom && !(error instanceof RefusedModels)) {
      throw error instanceof CustomFailure ? error.error : error;
    }
    const batch = error instanceof CustomFailure ? error.batch : run.taken.next;
    if (!this.#oneByOne.isOn(run.key)) {
      this.#oneByOne.begin(run.key, partsOf(batch));
      return undefined;
    }
    this.#oneByOne.passed(run.key);
    const failed = error instanceof CustomFailure ? [failureOf(error)] : refusedOf(perspective, batch, error);
    return this.#move(perspective, run, batch, { models: [], failed, messages: [] });
  }

  async #move(
    perspective: AnyPerspective<Tx>,
    { key, taken, goesOn }: Run,
    next: NextBatch,
    outcome: BatchOutcome,
    isAhead = false,
  ): Promise<TakenBookmark | null> {
    const { leaseSeconds, onHeld } = this.#options;
    const results = encodeResults(next, outcome);
    const limit = this.#limitOf(perspective, key);
    const moved = await this.#ask((db, schema) =>
      moveBookmark(db, schema, key, { taken, next, results, leaseSeconds, limit, goesOn: goesOn(), isAhead }),
    );
    if (moved !== null && outcome.failed.length > 0) onHeld(key.name, outcome.failed);
    return moved;
  }

  #ask<T>(question: (db: Queryable, schema: string) => Promise<T>): Promise<T> {
    const { pool, schema, answerMs } = this.#options;
    return withPooledClient(pool, (db) => question(db, schema), answerMs);
  }
}

/** How many batches it takes when they are as small as they can be: a stream of a sweep, or an event of the log. */
const partsOf = ({ mode, events }: NextBatch) =>
  mode === 'sweep' ? new Set(events.map(({ stream_id }) => stream_id)).size : events.length;

/** PostgreSQL has refused models: a column, a constraint or a size of their table. Nothing was stored. */
class RefusedModels {
  readonly outcome: BatchOutcome;
  readonly error: unknown;

  constructor(outcome: BatchOutcome, error: unknown) {
    this.outcome = outcome;
    this.error = error;
  }
}

/** A value does not fit its column, a constraint of the user's, a row is too large; or an append has the model inline. */
const isRefusal = (error: unknown) => /^(22|23|54|55P03)/.test(sqlStateOf(error));

const lockNotAvailable = '55P03';
const sqlStateOf = (error: unknown) => String((error as Partial<WhizbangError>).details?.sqlState);

function refusedOf(
  { kind, name }: AnyPerspective,
  { mode, events, held }: NextBatch,
  { outcome, error }: RefusedModels,
): readonly FailedEvent[] {
  const isBusy = sqlStateOf(error) === lockNotAvailable;
  const message = isBusy
    ? `${name}: an open transaction has its model, and stores it when it commits`
    : `${name}: its model was refused by PostgreSQL: ${(error as Error).message}`;
  const row = events.find(({ held }) => !held);
  if (row === undefined) throw error;
  const isByKey = kind === 'keyed' && (mode === 'log' || held?.[0]?.model_key !== undefined);
  const keys = isByKey ? outcome.models.map(({ id }) => id) : [null];
  return keys.map((key) => ({ key, row, error: { message }, isRetried: true, isBusy }));
}

function failureOf({ row, error }: CustomFailure): FailedEvent {
  const message = error instanceof Error ? error.message : describeError(error);
  return { key: null, row, error: { message }, isRetried: true };
}

/**
 * Whether the same work may succeed when it is run again, whatever the event is. Only what PostgreSQL has said counts: a
 * function may call other servers, and their being away is an error of its event. Should the connection of its own
 * transaction have broken, the event is not held either: what would hold it goes the same way.
 */
function isNobodysFault(error: unknown): boolean {
  if (!(error instanceof WhizbangError) && serverErrorOf(error) === undefined) return false;
  const { code, retryable } = fromDatabaseError(error);
  return retryable || ['CONNECTION_LOST', 'READ_ONLY_DATABASE', 'DATABASE_EXHAUSTED'].includes(code);
}

/** Whether the one event of the batch has ended its process before. */
function isDeadly({ interruptions, is_careful, next }: TakenBookmark): boolean {
  return is_careful && interruptions >= mostInterruptions && (next?.events.length ?? 0) > 0;
}

function heldWithoutRun({ events, held }: NextBatch): BatchOutcome {
  const row = events.find(({ held }) => !held);
  if (row === undefined) return { models: [], failed: [], messages: [] };
  const error = new WhizbangError('FOLD_FAILED', {
    message: `Whoever applied ${row.event_type} (version ${row.version} of stream ${row.stream_id}) died or stalled ${mostInterruptions} times.`,
  });
  const key = held?.[0]?.model_key ?? null;
  return { models: [], failed: [{ key, row, error, isRetried: false }], messages: [] };
}
