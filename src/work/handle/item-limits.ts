import type { WorkItem } from '../../message.js';
import type { ItemOutcome } from '../streams/processor-options.js';

/** A place of an item that may begin, which `leave` gives back; or the outcome of one that may not. */
export type Entered = { readonly leave: () => void } | { readonly outcome: ItemOutcome };

/** The limits of receptors, as the consumer worker sees them. */
export interface ItemLimits {
  /** Whether the receptor of an item has a limit. */
  concern(item: WorkItem): boolean;
  /** Notes that an item was handed out, and that it has its outcome. */
  added(item: WorkItem): void;
  settled(item: WorkItem): void;
  /** What a call asks for at the limits. Undefined: nothing. */
  asks(): Readonly<Record<string, number>> | undefined;
  enter(item: WorkItem): Promise<Entered>;
  stop(): void;
}
