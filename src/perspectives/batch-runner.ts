// One batch of a perspective: take, fold, store and move.
// In: a bookmark that is held, and what comes next behind it. Out: the bookmark at its next place, with what comes then.
// Called by the worker. Between the two statements nothing is locked: the move is refused if the bookmark was lost.

import type { BookmarkKey, NextBatch, TakenBookmark } from '../coordinator/index.js';
import { moveBookmark, readModels, takeBookmark } from '../coordinator/index.js';
import { type ConnectionPool, type Queryable, withPooledClient } from '../database/index.js';
import type { Origin } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { ModelPerspective } from '../fold/index.js';
import { type BatchOutcome, encodeResults, type FailedEvent } from './batch-results.js';
import { foldBatch } from './fold-batch.js';
import type { AnyPerspective } from './registry.js';

interface BatchRunnerOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly leaseSeconds: number;
  /** Limit of each statement. */
  readonly answerMs: number;
  readonly batchSize: number;
  readonly origin: Origin;
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

export class BatchRunner<Tx> {
  readonly #options: BatchRunnerOptions;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
  }

  take(_perspective: AnyPerspective<Tx>, key: BookmarkKey): Promise<TakenBookmark | null> {
    return this.#ask((db, schema) => takeBookmark(db, schema, key, this.#options.batchSize));
  }

  async run(perspective: AnyPerspective<Tx>, { key, taken, goesOn }: Run): Promise<TakenBookmark | null> {
    const { next } = taken;
    const { leaseSeconds, batchSize: limit, onHeld } = this.#options;
    const outcome = isDeadly(taken) ? heldUnrun(next) : await this.#fold(perspective, key.name, next);
    const move = (given: BatchOutcome) => {
      const results = encodeResults(next, given);
      return this.#ask((db, schema) =>
        moveBookmark(db, schema, key, { taken, next, results, leaseSeconds, limit, goesOn: goesOn() }),
      );
    };
    const moved = await move(outcome);
    if (moved !== null && outcome.failed.length > 0) onHeld(key.name, outcome.failed);
    return moved;
  }

  #fold(perspective: AnyPerspective<Tx>, name: string, next: NextBatch): Promise<BatchOutcome> {
    const read = (ids: readonly string[]) => this.#ask((db, schema) => readModels(db, schema, name, ids));
    return foldBatch(perspective as ModelPerspective<unknown>, next, read, this.#options.origin);
  }

  #ask<T>(question: (db: Queryable, schema: string) => Promise<T>): Promise<T> {
    const { pool, schema, answerMs } = this.#options;
    return withPooledClient(pool, (db) => question(db, schema), answerMs);
  }
}

/** Whether the one event of the batch has ended its process before. */
function isDeadly({ interruptions, is_careful, next }: TakenBookmark): boolean {
  return is_careful && interruptions >= mostInterruptions && (next?.events.length ?? 0) > 0;
}

function heldUnrun({ events }: NextBatch): BatchOutcome {
  const [row] = events;
  if (row === undefined) return { models: [], failed: [], messages: [] };
  const error = new WhizbangError('FOLD_FAILED', {
    message: `Whoever applied ${row.event_type} (version ${row.version} of stream ${row.stream_id}) died or stalled ${mostInterruptions} times.`,
  });
  return { models: [], failed: [{ key: null, row, error, isRetried: false }], messages: [] };
}
