import { outsideReceptors } from '../../dispatch/index.js';
import type { WorkBatch } from '../../message.js';
import type { RoomNow } from '../../strategies/index.js';
import type { WorkLoop } from './work-loop.js';

const noRoom: RoomNow = { outbox: 0, inbox: 0, spareOutbox: 0, spareInbox: 0 };

/**
 * Entry for the work in the answers of all calls, also of those that senders make. It is closed until the
 * instance has subscribed: before that, a message that the instance sends to itself has no receiver. A sender
 * that never starts takes no work.
 */
export class WorkGate {
  #loop: Pick<WorkLoop, 'room' | 'take'> | undefined;
  #continuesAbove: () => number = () => Number.POSITIVE_INFINITY;

  /**
   * Opens the gate. `continuesAbove`: the room from which new messages may come behind those that are held.
   */
  open(loop: Pick<WorkLoop, 'room' | 'take'>, continuesAbove: () => number): void {
    this.#loop = loop;
    this.#continuesAbove = continuesAbove;
  }

  /** Returns how much this instance can take now. */
  room(): RoomNow {
    return this.#loop === undefined
      ? noRoom
      : { ...this.#loop.room(), continuesAbove: this.#continuesAbove() };
  }

  take(batch: WorkBatch, sentAt: number): void {
    // A receptor that sends may have made this call: what is begun now is no part of that receptor.
    outsideReceptors(() => this.#loop?.take(batch, sentAt));
  }
}
