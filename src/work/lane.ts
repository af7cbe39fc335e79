import type { MessageId, WorkItem } from '../message.js';
import type { LeaseClock } from './leases/lease-clock.js';

/**
 * One side of an instance's work, as the loop sees it: the outbox and what publishes it, the inbox and what handles it.
 * The lane bounds what it holds; the loop asks for no more than its room, renews what it holds and tells it what is lost.
 */
export interface Lane {
  readonly source: 'outbox' | 'inbox';
  /** Of this lane alone: what a service sends to itself has one id, and may be held in both lanes at once. */
  readonly leases: LeaseClock;
  /** How many items it could take now. Zero once it stops taking. */
  room(): number;
  /** How many streams it could begin at once: so many it takes whoever owns them. */
  spare(): number;
  /** Whether it is worth a call to fill the room it has. */
  wantsMore(): boolean;
  add(items: readonly WorkItem[]): void;
  readonly heldCount: number;
  heldIds(): readonly MessageId[];
  /** Those that a renewal would not have to wait for, because a handler's own transaction has locked their stream. */
  renewableIds(): readonly MessageId[];
  /** The leases are not ours any more, or not surely. Returns those that were still held here. */
  forget(messageIds: readonly MessageId[]): readonly MessageId[];
  /** Takes nothing any more and gives back what has not been started. */
  stopTaking(): void;
  /** Tells those who run that there is no more time, and gives back what they hold. */
  abandon(): void;
  whenIdle(): Promise<void>;
}
