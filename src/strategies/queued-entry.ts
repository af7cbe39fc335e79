import { WhizbangError } from '../errors.js';
import type { QueuedUnit, WorkUnit } from './strategy.js';

/** A unit in the queue of a strategy, with the promise of what becomes of it. */
export class QueuedEntry implements QueuedUnit {
  readonly unit: WorkUnit;
  readonly #leaveQueue: () => boolean;
  readonly #carried: Promise<void>;
  #isHeard = false;
  #resolve!: () => void;
  #reject!: (error: WhizbangError) => void;

  constructor(unit: WorkUnit, leaveQueue: () => boolean) {
    this.unit = { ...unit }; // the same object may be queued twice, and is then two units
    this.#leaveQueue = leaveQueue;
    this.#carried = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#carried.catch(() => {}); // a rejection need not be handled
  }

  /**
   * Reading `carried` marks the unit as observed: a rejection then goes to the reader instead of `onError`.
   */
  get carried(): Promise<void> {
    this.#isHeard = true;
    return this.#carried;
  }

  withdraw(): boolean {
    if (!this.#leaveQueue()) return false;
    this.reject(
      new WhizbangError('DISPOSED', {
        message: 'The unit was withdrawn before a call took it.',
        hint: 'Queue the unit again if it is still needed.',
      }),
    );
    return true;
  }

  resolve(): void {
    this.#resolve();
  }

  reject(error: WhizbangError): void {
    this.#reject(error);
  }

  get isHeard(): boolean {
    return this.#isHeard;
  }
}
