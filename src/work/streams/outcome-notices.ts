// Reports the outcome of each item once and in order, and ends the wait for a batch when all were reported.
// In: outcomes and errors, as they occur. Out: calls of the callbacks, only inside `tell`: never in the
// middle of a change.
// Called by the OrderedStreamProcessor. An error of a callback stops nothing.
import { consoleLogger } from '../../logger.js';
import type { Held, OrderedItem } from './held-streams.js';
import type { ItemOutcome } from './processor-options.js';

/** Items that one call of `process` waits for. */
export interface Batch {
  left: number;
  readonly done: () => void;
}

interface Notice<Item> {
  readonly item: Item;
  readonly tell: () => void;
  readonly batch: Batch | undefined;
}

interface NoticeCallbacks<Item> {
  readonly onOutcome: (item: Item, outcome: ItemOutcome) => void;
  readonly onError?: ((error: unknown, item: Item) => void) | undefined;
}

export class OutcomeNotices<Item extends OrderedItem> {
  readonly #callbacks: NoticeCallbacks<Item>;
  readonly #batches = new Map<Held<Item>, Batch>();
  #notices: Notice<Item>[] = [];

  constructor(callbacks: NoticeCallbacks<Item>) {
    this.#callbacks = callbacks;
  }

  conclude(concluded: readonly Held<Item>[], outcome: ItemOutcome): void {
    for (const held of concluded) {
      const { item } = held;
      const tell = () => this.#callbacks.onOutcome(item, outcome);
      this.#notices.push({ item, tell, batch: this.#leave(held) });
    }
  }

  fail(item: Item, error: unknown): void {
    this.#notices.push({ item, tell: () => this.#tellError(error, item), batch: undefined });
  }

  join(held: Held<Item>, batch: Batch): void {
    this.#batches.set(held, batch);
    batch.left++;
  }

  leave(held: Held<Item>): void {
    leave(this.#leave(held));
  }

  isOf(held: Held<Item>, batch: Batch): boolean {
    return this.#batches.get(held) === batch;
  }

  tell(): void {
    // Callbacks may add to the list during this loop.
    for (const { item, tell, batch } of this.#notices) {
      try {
        tell();
      } catch (error) {
        this.#tellError(error, item);
      }
      leave(batch);
    }
    if (this.#notices.length > 0) this.#notices = [];
  }

  #leave(held: Held<Item>): Batch | undefined {
    const batch = this.#batches.get(held);
    if (batch) this.#batches.delete(held);
    return batch;
  }

  #tellError(error: unknown, item: Item): void {
    const { messageId } = item;
    try {
      if (this.#callbacks.onError) this.#callbacks.onError(error, item);
      else
        consoleLogger.error({ error, messageId }, 'A callback for the outcome of a message threw an error');
    } catch (worse) {
      consoleLogger.error({ error: worse, messageId }, 'onError threw an error');
    }
  }
}

export function leave(batch: Batch | undefined): void {
  if (batch && --batch.left === 0) batch.done();
}
