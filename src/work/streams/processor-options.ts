// Options of an OrderedStreamProcessor: how to run an item, or several as one, and callbacks for outcomes.
import type { LazySignal } from '../../lazy-signal.js';
import type { StatusBits } from '../../message.js';
import type { OrderedItem } from './held-streams.js';

/** Options of an OrderedStreamProcessor. */
export interface OrderedStreamProcessorOptions<Item extends OrderedItem> extends ProcessorOptions<Item> {
  /**
   * Runs the stages that are missing in the item's status. If it throws, the item has failed with nothing
   * done. The stream and its place under the limit are occupied until the promise settles, also when the
   * signal was aborted meanwhile. To abandon a handler that ignores the signal, settle the promise early.
   */
  readonly run: (item: Item, signal: AbortSignal) => Promise<ItemOutcome>;
}

/** The same for a caller that seldom needs the signal, which is made when it is read. */
export interface StartedItemOptions<Item extends OrderedItem> extends ProcessorOptions<Item> {
  readonly runStarted: (started: StartedItem<Item>) => ItemOutcome | Promise<ItemOutcome>;
}

interface ProcessorOptions<Item extends OrderedItem> {
  /** Largest number of streams that run at once. Default: 32. */
  readonly maxConcurrentStreams?: number | undefined;
  /** Called exactly once for every item, before anything that was added later is started in its stream. */
  readonly onOutcome: (item: Item, outcome: ItemOutcome) => void;
  /** Receives what `onOutcome` threw, and items added while they were held. Default: logs to the console. */
  readonly onError?: ((error: unknown, item: Item) => void) | undefined;
  /** Schedules the start of added items. Default: at once. */
  readonly soon?: ((start: () => void) => void) | undefined;
  /** Runs several items as one when more wait than can run at once. Default: each is run by itself. */
  readonly together?: RunTogether<Item> | undefined;
}

/** Outcome of an item. Its stream goes on after `completed` and `settled`; else the rest is given back. */
export type ItemOutcome =
  /** Done, to be reported. `status`: the new stages; bits that the item came with need not be repeated. */
  | { readonly kind: 'completed'; readonly status: StatusBits }
  /** Done, and recorded in a transaction of its own. Nothing is left to report. */
  | { readonly kind: 'settled' }
  /** Failed. `completedStatus`: the stages that were done before, so that only the missing ones run again. */
  | { readonly kind: 'failed'; readonly completedStatus: StatusBits; readonly error: unknown }
  /** Not handled, and to be given back. */
  | { readonly kind: 'released' }
  /** Lost: another instance may hold the lease. Nothing may be reported. */
  | { readonly kind: 'forgotten' };

/** An item that runs now. Its signal is aborted when its lease is lost, or when all runs are aborted. */
export interface StartedItem<Item extends OrderedItem>
  extends Pick<LazySignal, 'aborted' | 'reason' | 'signal' | 'whenAborted'> {
  readonly item: Item;
}

/** How an OrderedStreamProcessor runs several items as one. */
export interface RunTogether<Item extends OrderedItem> {
  /** Largest number of items in one run. */
  readonly most: number;
  /** Returns whether an item may run with others. Called when the item could be started. */
  readonly mayJoin: (item: Item) => boolean;
  /** Returns how many items are always run as one with this item, however few wait. Undefined: it is no such item. */
  readonly batchSize?: ((item: Item) => number | undefined) | undefined;
  /** Returns whether an item may run as one with the first of a batch. */
  readonly mayJoinBatch?: ((item: Item, first: Item) => boolean) | undefined;
  /**
   * Runs the first item, and then, one after the other, those that `next` returns, until it wants no more or
   * `next` returns undefined. Items of one stream come in order. Returns the outcome of each, in the order in
   * which they were given. Undefined means that nothing was done and the item is run by itself; if it throws,
   * this applies to all.
   */
  readonly run: (
    first: StartedItem<Item>,
    next: () => StartedItem<Item> | undefined,
  ) => Promise<readonly (ItemOutcome | undefined)[]>;
}
