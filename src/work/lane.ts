import type { MessageId, WorkItem } from '../message.js';
import type { LeaseClock } from './leases/lease-clock.js';

/**
 * One side of an instance's work, as the loop sees it: the outbox with its publisher, or the inbox with its
 * consumer. The lane bounds what it holds. The loop asks for no more than its room, renews the leases of what
 * it holds, and notifies it of lost leases.
 */
export interface Lane {
  readonly source: 'outbox' | 'inbox';
  /** Leases of this lane only: a message that a service sends to itself may be in both lanes, with one id. */
  readonly leases: LeaseClock;
  /** Number of items that it could take now. Zero once it stops taking. */
  room(): number;
  /** Number of streams that it could begin at once. It takes so many, whichever instance owns them. */
  spare(): number;
  /** Whether it is worth a call to fill the room it has. */
  wantsMore(): boolean;
  /** What it asks for at limits. Undefined: it has none. */
  limits?(): Readonly<Record<string, number>> | undefined;
  add(items: readonly WorkItem[]): void;
  readonly heldCount: number;
  heldIds(): readonly MessageId[];
  /** Ids that can be renewed without waiting for a handler's transaction that has locked their stream. */
  renewableIds(): readonly MessageId[];
  /** Drops messages whose leases are lost or may be lost. Returns the ids that were still held here. */
  forget(messageIds: readonly MessageId[]): readonly MessageId[];
  /** Stops taking items and gives back those that have not been started. */
  stopTaking(): void;
  /** Aborts what runs, because there is no time left, and gives back what it holds. */
  abandon(): void;
  whenIdle(): Promise<void>;
}

/** The work on perspectives, as the loop sees it. A bookmark needs no renewal: each batch carries its lease on. */
export interface PerspectiveLane {
  /** Number of bookmarks that it could take now. */
  room(): number;
  readonly isBusy: boolean;
  add(items: readonly WorkItem[]): void;
}
