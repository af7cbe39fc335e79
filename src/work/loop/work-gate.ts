import type { WorkBatch } from '../../message.js';
import type { RoomNow } from '../../strategies/index.js';
import type { WorkLoop } from './work-loop.js';

const noRoom: RoomNow = { outbox: 0, inbox: 0, spareOutbox: 0, spareInbox: 0 };

/**
 * Where work comes in, with the answers of all calls, also of those that senders make. Shut until the instance has
 * subscribed: what it sends to itself would find nobody. A sender that never starts takes no work.
 */
export class WorkGate {
  #loop: Pick<WorkLoop, 'room' | 'take'> | undefined;
  #continuesAbove: () => number = () => Number.POSITIVE_INFINITY;

  /** `continuesAbove`: with how much room new messages may come behind those that are held. */
  open(loop: Pick<WorkLoop, 'room' | 'take'>, continuesAbove: () => number): void {
    this.#loop = loop;
    this.#continuesAbove = continuesAbove;
  }

  /** How much this instance can take now. */
  room(): RoomNow {
    return this.#loop === undefined
      ? noRoom
      : { ...this.#loop.room(), continuesAbove: this.#continuesAbove() };
  }

  take(batch: WorkBatch, sentAt: number): void {
    this.#loop?.take(batch, sentAt);
  }
}
