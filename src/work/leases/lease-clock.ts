// Which leases are in memory, and until when this instance surely holds them.
// In: ids with the time at which the call that leased or renewed them was sent. Out: what may still be
// started, what has to be given up, what is to be renewed. Called by the worker loop; it never talks to the
// database.
//
// A lease is counted from the time its call was sent. The database starts counting later, so what is safe
// here is safe there. Only the monotonic clock is read, so setting the system clock changes nothing. It does
// not advance while the whole machine is suspended: then the fence in the database protects the message, as
// always.
import { WhizbangError } from '../../errors.js';

interface LeaseClockOptions {
  /** Length of a lease, as passed to the database. */
  readonly leaseSeconds: number;
  /** Time before the end of a lease from which it no longer counts as surely held. */
  readonly marginSeconds: number;
  /** Returns the milliseconds of a monotonic clock. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

export class LeaseClock {
  readonly #safeForMs: number;
  readonly #now: () => number;
  readonly #sentAtMs = new Map<string, number>();
  /** Lower bound of the times in `#sentAtMs`, so that a busy loop rarely looks at each lease. */
  #noneBeforeMs = Number.POSITIVE_INFINITY;

  constructor(options: LeaseClockOptions) {
    const { leaseSeconds, marginSeconds } = options;
    if (!(marginSeconds >= 0 && marginSeconds < leaseSeconds)) {
      throw new WhizbangError('INVALID_OPTION', {
        message: `marginSeconds is ${marginSeconds}, and must be at least 0 and less than leaseSeconds (${leaseSeconds})`,
        details: { option: 'marginSeconds' },
      });
    }
    this.#safeForMs = (leaseSeconds - marginSeconds) * 1000;
    this.#now = options.now ?? (() => performance.now());
  }

  get size(): number {
    return this.#sentAtMs.size;
  }

  /** Adds leases of a call sent at that time. */
  hold(ids: Iterable<string>, callSentAtMs: number): void {
    for (const id of ids) this.#set(id, callSentAtMs);
  }

  /** Extends leases renewed by a call sent at that time. Those dropped in the meantime stay dropped. */
  renewed(ids: Iterable<string>, callSentAtMs: number): void {
    for (const id of ids) if (this.#sentAtMs.has(id)) this.#set(id, callSentAtMs);
  }

  drop(id: string): void {
    this.#sentAtMs.delete(id);
    if (this.#sentAtMs.size === 0) this.#noneBeforeMs = Number.POSITIVE_INFINITY;
  }

  /** Returns whether the message may be started now. */
  isSafe(id: string): boolean {
    const sentAtMs = this.#sentAtMs.get(id);
    return sentAtMs !== undefined && this.#now() - sentAtMs < this.#safeForMs;
  }

  /** Returns the leases that are not surely held and have to be given up. They stay until `drop`. */
  expired(): string[] {
    return this.#olderThan(this.#safeForMs);
  }

  /** Returns the leases that are surely held and were not renewed for this time. */
  dueForRenewal(everySeconds: number): string[] {
    const now = this.#now();
    return this.#olderThan(everySeconds * 1000, now).filter(
      (id) => now - (this.#sentAtMs.get(id) as number) < this.#safeForMs,
    );
  }

  #set(id: string, sentAtMs: number): void {
    // Answers may be processed out of order: an older one does not shorten a lease.
    const latest = Math.max(sentAtMs, this.#sentAtMs.get(id) ?? sentAtMs);
    this.#sentAtMs.set(id, latest);
    this.#noneBeforeMs = Math.min(this.#noneBeforeMs, latest);
  }

  #olderThan(ageMs: number, now = this.#now()): string[] {
    if (now - this.#noneBeforeMs < ageMs) return [];
    const older: string[] = [];
    let oldest = Number.POSITIVE_INFINITY;
    for (const [id, sentAtMs] of this.#sentAtMs) {
      oldest = Math.min(oldest, sentAtMs);
      if (now - sentAtMs >= ageMs) older.push(id);
    }
    this.#noneBeforeMs = oldest;
    return older;
  }
}
