import type { OrderedItem } from './held-streams.js';
import type { ItemOutcome } from './item-outcome.js';

/** An item that runs now. Its signal is aborted when its lease is lost, or with everything that runs. */
export interface StartedItem<Item extends OrderedItem> {
  readonly item: Item;
  readonly signal: AbortSignal;
}

/** How an OrderedStreamProcessor runs several items as one. */
export interface RunTogether<Item extends OrderedItem> {
  /** So many at most. */
  readonly most: number;
  /** Asked when it could be started. */
  readonly mayJoin: (item: Item) => boolean;
  /**
   * Runs the first, and then one after the other those that `next` gives, for as long as it wants more and there are any. Those of
   * one stream come in order. Answers what became of each, in the order in which they were given; undefined: nothing did, and it is
   * run by itself. To throw is to answer that for all.
   */
  readonly run: (
    first: StartedItem<Item>,
    next: () => StartedItem<Item> | undefined,
  ) => Promise<readonly (ItemOutcome | undefined)[]>;
}
