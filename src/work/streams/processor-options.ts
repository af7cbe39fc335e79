// What an OrderedStreamProcessor is told: how to run an item, or several as one, and who hears what became of each.
import type { StatusBits } from '../../message.js';
import type { OrderedItem } from './held-streams.js';

/** Of an OrderedStreamProcessor. */
export interface OrderedStreamProcessorOptions<Item extends OrderedItem> {
  /** Default: 32. */
  readonly maxConcurrentStreams?: number | undefined;
  /**
   * Runs the stages that the item's status is missing. To throw is to fail with nothing done. The stream and its place
   * under the limit are taken until the promise settles, also when the signal was aborted meanwhile: whoever wants to
   * leave a handler behind that does not listen settles early.
   */
  readonly run: (item: Item, signal: AbortSignal) => Promise<ItemOutcome>;
  /** Called exactly once for every item, before anything that was added later is started in its stream. */
  readonly onOutcome: (item: Item, outcome: ItemOutcome) => void;
  /** What `onOutcome` threw, and items that were added while they were held. Default: to the console. */
  readonly onError?: ((error: unknown, item: Item) => void) | undefined;
  /** When what was added is started. Default: at once. */
  readonly soon?: ((start: () => void) => void) | undefined;
  /** For those that may be run as one when more waits than can run at once. Default: each is run by itself. */
  readonly together?: RunTogether<Item> | undefined;
}

/** What became of an item. After `completed` and `settled` its stream goes on; after the others the rest is given back. */
export type ItemOutcome =
  /** The stages now done: only the new bits, those that the item came with need not be repeated. To be reported. */
  | { readonly kind: 'completed'; readonly status: StatusBits }
  /** Done, and recorded in a transaction of its own. Nothing is left to report. */
  | { readonly kind: 'settled' }
  /** `completedStatus`: the stages that were done before it failed, so that only the missing ones run again. */
  | { readonly kind: 'failed'; readonly completedStatus: StatusBits; readonly error: unknown }
  /** To be given back, untouched. */
  | { readonly kind: 'released' }
  /** The lease is lost. Nothing may be reported. */
  | { readonly kind: 'forgotten' };

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
