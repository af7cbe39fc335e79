import { WhizbangError } from '../errors.js';
import type { QueuedUnit, WorkUnit } from './strategy.js';

/** A unit in the queue of a strategy, with what becomes of it. */
export class QueuedEntry implements QueuedUnit {
  readonly unit: WorkUnit;
  readonly #leaveQueue: () => boolean;
  /** Made when it is read: nobody reads that of an ordinary report. */
  #carried: Promise<void> | undefined;
  #settle: (() => void) | undefined;
  /** What became of it. Undefined: it is not known yet. */
  #fate: 'carried' | WhizbangError | undefined;

  constructor(unit: WorkUnit, leaveQueue: () => boolean) {
    this.unit = { ...unit }; // the same object may be queued twice, and is then two units
    this.#leaveQueue = leaveQueue;
  }

  /**
   * Reading `carried` marks the unit as observed: a rejection then goes to the reader instead of `onError`.
   */
  get carried(): Promise<void> {
    if (this.#carried === undefined) {
      this.#carried = new Promise((resolve, reject) => {
        this.#settle = () => (this.#fate instanceof WhizbangError ? reject(this.#fate) : resolve());
      });
      this.#carried.catch(() => {}); // a rejection need not be handled
      if (this.#fate !== undefined) this.#settle?.();
    }
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
    this.#fate = 'carried';
    this.#settle?.();
  }

  reject(error: WhizbangError): void {
    this.#fate = error;
    this.#settle?.();
  }

  get isHeard(): boolean {
    return this.#carried !== undefined;
  }
}
