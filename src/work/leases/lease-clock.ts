// Which leases are in memory, and until when they are surely ours.
// In: ids with the moment at which the call that leased or renewed them was sent. Out: what may still be started,
// what has to be given up, what is to be renewed. Called by the worker loop; it never talks to the database.
//
// A lease is counted from when its call was sent: the database starts counting later, so what is safe here is safe
// there. Only the monotonic clock is read; a clock that is set back or forward changes nothing. It does not advance
// while the whole machine is suspended: then the fence in the database holds, as it always does in the end.
import { WhizbangError } from '../../errors.js';

interface LeaseClockOptions {
  /** As passed to the database. */
  readonly leaseSeconds: number;
  /** So long before its end a lease no longer counts as surely ours. */
  readonly marginSeconds: number;
  /** Milliseconds of a clock that only goes forward. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

export class LeaseClock {
  readonly #safeForMs: number;
  readonly #now: () => number;
  readonly #sentAtMs = new Map<string, number>();
  /** No lease is older than this, so that the questions of a busy loop rarely look at each lease. */
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

  /** Leased by a call sent at that time. */
  hold(ids: Iterable<string>, callSentAtMs: number): void {
    for (const id of ids) this.#set(id, callSentAtMs);
  }

  /** Renewed by a call sent at that time. What was dropped while the call was under way stays dropped. */
  renewed(ids: Iterable<string>, callSentAtMs: number): void {
    for (const id of ids) if (this.#sentAtMs.has(id)) this.#set(id, callSentAtMs);
  }

  drop(id: string): void {
    this.#sentAtMs.delete(id);
    if (this.#sentAtMs.size === 0) this.#noneBeforeMs = Number.POSITIVE_INFINITY;
  }

  /** May it be started now? */
  isSafe(id: string): boolean {
    const sentAtMs = this.#sentAtMs.get(id);
    return sentAtMs !== undefined && this.#now() - sentAtMs < this.#safeForMs;
  }

  /** No longer surely ours: to be given up. They stay here until they are dropped. */
  expired(): string[] {
    return this.#olderThan(this.#safeForMs);
  }

  /** Surely ours, and not renewed for so long. */
  dueForRenewal(everySeconds: number): string[] {
    const now = this.#now();
    return this.#olderThan(everySeconds * 1000, now).filter(
      (id) => now - (this.#sentAtMs.get(id) as number) < this.#safeForMs,
    );
  }

  #set(id: string, sentAtMs: number): void {
    // Answers may be looked at out of turn: an older one takes nothing back.
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
