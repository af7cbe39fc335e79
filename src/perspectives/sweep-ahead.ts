// A sweep, one batch ahead: while a batch is stored, the next one is folded, and the one behind it is read. So the
// database and the functions of the user work at the same time.
// In: a batch of a sweep. Out: what became of it, and the batch behind it.
// Called by the batch runner. It stores nothing. What it has is dropped when the move of a batch says that something
// else comes next: the batches hang on each other, and nothing else holds them.
import { setImmediate as turn } from 'node:timers/promises';
import { type BookmarkKey, type ModelRow, type NextBatch, readAhead } from '../coordinator/index.js';
import type { Queryable } from '../database/index.js';
import type { ModelPerspective } from '../fold/index.js';
import type { BatchOutcome } from './batch-results.js';

interface SweepAheadOptions {
  readonly ask: <T>(question: (db: Queryable, schema: string) => Promise<T>) => Promise<T>;
  readonly read: (key: BookmarkKey, ids: readonly string[]) => Promise<readonly ModelRow[]>;
  readonly fold: (
    perspective: ModelPerspective<unknown>,
    batch: NextBatch,
    read: (ids: readonly string[]) => Promise<readonly ModelRow[]>,
  ) => Promise<BatchOutcome>;
}

/** How many streams, as a batch of the runner. */
const limit = 500;

export class SweepAhead {
  readonly #options: SweepAheadOptions;
  readonly #outcomes = new WeakMap<NextBatch, Promise<BatchOutcome>>();
  readonly #next = new WeakMap<NextBatch, Promise<NextBatch | null>>();

  constructor(options: SweepAheadOptions) {
    this.#options = options;
  }

  /** Whether the batch behind this one is known before this one is stored: its streams are others. */
  static isPossible({ mode, swept, part }: NextBatch): boolean {
    return mode === 'sweep' && swept !== null && part == null;
  }

  /** What became of a batch. The batch behind it is read meanwhile. */
  fold(
    perspective: ModelPerspective<unknown>,
    key: BookmarkKey,
    batch: NextBatch,
    isAhead: boolean,
  ): Promise<BatchOutcome> {
    const known = this.#outcomes.get(batch);
    if (known !== undefined) return known;
    // One statement after the other: a perspective needs two connections at most.
    const folding = this.#options.fold(perspective, batch, async (ids) => {
      const models = batch.models ?? (await this.#options.read(key, ids));
      if (isAhead) {
        void this.#readBehind(key, batch);
        // The statement leaves before the functions begin, which do not pause.
        await turn();
      }
      return models;
    });
    this.#outcomes.set(batch, folding);
    return folding;
  }

  /** The batch behind this one, whose fold begins as soon as it was read. Null: it could not be read. */
  async next(
    perspective: ModelPerspective<unknown>,
    key: BookmarkKey,
    batch: NextBatch,
  ): Promise<NextBatch | null> {
    const next = await this.#readBehind(key, batch);
    if (next !== null) {
      // It fails when its turn comes, if it fails.
      this.fold(perspective, key, next, SweepAhead.isPossible(next)).catch(() => {});
    }
    return next;
  }

  #readBehind(key: BookmarkKey, batch: NextBatch): Promise<NextBatch | null> {
    const known = this.#next.get(batch);
    if (known !== undefined) return known;
    const reading = this.#options
      .ask((db, schema) => readAhead(db, schema, key, batch.swept as number, limit))
      // The move, which goes the same way, says what is wrong.
      .catch(() => null);
    this.#next.set(batch, reading);
    return reading;
  }
}
