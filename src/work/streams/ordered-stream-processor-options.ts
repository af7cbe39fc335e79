import type { OrderedItem } from './held-streams.js';
import type { ItemOutcome } from './item-outcome.js';
import type { RunTogether } from './run-together.js';

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
