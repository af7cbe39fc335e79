import type { ReceptorLimit } from '../../receptors/index.js';
import { RateWindow } from './rate-window.js';

/** The room of this instance under one limit and key. Under a limit over all instances the database decides. */
export class KeyRoom {
  readonly #limit: ReceptorLimit;
  readonly #window: RateWindow | undefined;
  #running = 0;
  #refusedUntil = 0;
  #isRefusedUntilOneEnds = false;

  constructor(limit: ReceptorLimit) {
    this.#limit = limit;
    this.#window = limit.rate && !limit.isAcross ? new RateWindow(limit.rate) : undefined;
  }

  /** How many could begin now, besides those that run. */
  room(now: number): number {
    if (now < this.#refusedUntil) return 0;
    const { concurrency = Number.POSITIVE_INFINITY } = this.#limit;
    return Math.max(
      Math.min(concurrency - this.#running, this.#window?.room(now) ?? Number.POSITIVE_INFINITY),
      0,
    );
  }

  /** When there is room again, if that depends on time only. Zero: when one that runs has ended. */
  waitMs(now: number): number {
    if (now < this.#refusedUntil) return this.#refusedUntil - now;
    return this.#window?.waitMs(now) ?? 0;
  }

  begin(now: number): void {
    this.#running++;
    this.#window?.begin(now);
  }

  end(): void {
    this.#running--;
    if (this.#isRefusedUntilOneEnds) this.#refusedUntil = 0;
  }

  /** The database has not let one in: for this time it is not asked again, or until one that runs here has ended. */
  refuse(now: number, ms: number, isUntilOneEnds: boolean): void {
    this.#refusedUntil = now + ms;
    this.#isRefusedUntilOneEnds = isUntilOneEnds;
  }

  /** Whether it knows nothing that a new one would not know. */
  isIdle(now: number): boolean {
    const isWindowEmpty = this.#window === undefined || this.#window.room(now) === this.#limit.rate?.count;
    return this.#running === 0 && now >= this.#refusedUntil && isWindowEmpty;
  }
}
