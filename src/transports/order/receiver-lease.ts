// One active receiver of a service, for brokers that have no single active consumer: a lease in the service's own database.
// In: the host and a name. Out: the lease, once it is this one's, with a signal for its loss.
// Called by transports. It reads no clock but the process's own monotonic one: a waiting receiver takes the lease when it
// has seen no beat of the holder for the whole time, and the holder stops earlier than that by itself. The stop is for
// economy and for rule 3; should a holder come too late, first occurrence still keeps the order (see ../transport.ts).
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { holdReceiver, leaveReceiver, type SeenLease } from '../../coordinator/index.js';
import { type Queryable, quoteSchema, withPooledClient } from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import type { TransportHost } from '../transport.js';

/** A lease that is held. */
export interface ReceiverLease {
  /** Grows with each holder, as a decimal number. */
  readonly fence: string;
  /** Aborts when the lease is lost: it ran out, was taken, or was given back. */
  readonly lost: AbortSignal;
  /** Ask before each delivery: after a stall the signal may be late. */
  isHeld(): boolean;
  /** Gives it back: the next receiver takes it at once. Never rejects. */
  release(): Promise<void>;
}

interface LeaseOptions {
  /** How long the holder may be silent before another takes over. Default: 5. */
  readonly seconds?: number | undefined;
}

/** The share of the lease after which a holder without an answer stops by itself. */
const heldShare = 0.8;
/** How often a receiver looks whether the lease was given back. */
const lookMs = 500;

/**
 * Waits until this one is the receiver of that name, and then keeps the lease until it is released or lost. Takes over
 * `seconds` after the last sign of a holder that died, and at once when it was released. While the database is away
 * it goes on waiting. Rejects with the reason of the signal, and when the database refuses.
 */
export async function receiverLease(
  host: Pick<TransportHost, 'pool' | 'schema' | 'logger'>,
  name: string,
  signal: AbortSignal,
  { seconds = 5 }: LeaseOptions = {},
): Promise<ReceiverLease> {
  const asker = new LeaseAsker(host, name, seconds * 1000);
  let seen: SeenLease | undefined;
  let seenAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const askedAt = performance.now();
    const isSilent = askedAt - seenAt >= seconds * 1000;
    const now = await asker.hold(isSilent ? seen : undefined).catch(unlessRefused);
    if (now?.isHeld) {
      if (!signal.aborted) return new HeldLease(asker, now.fence, askedAt);
      await asker.leave();
    } else if (now !== undefined && (now.fence !== seen?.fence || now.beat !== seen.beat)) {
      seen = now;
      seenAt = performance.now();
    }
    await wait(lookMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Of the errors only those that a later attempt cannot heal are thrown. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof WhizbangError && ['NOT_MIGRATED', 'PERMISSION_DENIED'].includes(error.code))
    throw error;
}

/** The statements of one attempt to receive, with time limits. */
class LeaseAsker {
  readonly #host: Pick<TransportHost, 'pool' | 'schema' | 'logger'>;
  readonly #schema: string;
  readonly #holder = randomUUID();

  constructor(
    host: Pick<TransportHost, 'pool' | 'schema' | 'logger'>,
    readonly name: string,
    readonly leaseMs: number,
  ) {
    this.#host = host;
    this.#schema = quoteSchema(host.schema);
  }

  hold(seen?: SeenLease): Promise<SeenLease & { readonly isHeld: boolean }> {
    return this.#ask((db) => holdReceiver(db, this.#schema, this.name, this.#holder, seen));
  }

  async leave(): Promise<void> {
    await this.#ask((db) => leaveReceiver(db, this.#schema, this.name, this.#holder)).catch(() => {
      // It runs out by itself.
    });
  }

  lost(reason: string): void {
    this.#host.logger.warn({ lease: this.name, reason }, 'This instance receives no longer; another one may');
  }

  #ask<T>(question: (db: Queryable) => Promise<T>): Promise<T> {
    return withPooledClient(this.#host.pool, question, Math.max(this.leaseMs / 2, 1_000));
  }
}

class HeldLease implements ReceiverLease {
  readonly #asker: LeaseAsker;
  readonly #ended = new AbortController();
  readonly #renewing: Promise<void>;
  readonly fence: string;
  /** When the last renewal that succeeded was asked for. */
  #heldSince: number;
  #deadline: NodeJS.Timeout | undefined;

  constructor(asker: LeaseAsker, fence: string, heldSince: number) {
    this.#asker = asker;
    this.fence = fence;
    this.#heldSince = heldSince;
    this.#watch();
    this.#renewing = this.#renew();
  }

  get lost(): AbortSignal {
    return this.#ended.signal;
  }

  isHeld(): boolean {
    if (this.lost.aborted) return false;
    if (this.#remainingMs() > 0) return true;
    this.#lose('the database did not answer in time, or this process stalled');
    return false;
  }

  async release(): Promise<void> {
    const wasLost = this.lost.aborted;
    clearTimeout(this.#deadline);
    this.#ended.abort();
    await this.#renewing;
    if (!wasLost) await this.#asker.leave();
  }

  async #renew(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await wait(this.#asker.leaseMs / 5, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      const askedAt = performance.now();
      const now = await this.#asker.hold().catch(() => undefined);
      if (signal.aborted || now === undefined) continue;
      if (!now.isHeld) return this.#lose('another instance has taken over');
      // Taken again after it had been another's in between: what was read under the old fence does not count.
      if (now.fence !== this.fence) return this.#lose('another instance had taken over');
      this.#heldSince = askedAt;
      this.#watch();
    }
  }

  #watch(): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.isHeld(), this.#remainingMs() + 1);
    this.#deadline.unref();
  }

  #remainingMs(): number {
    return this.#heldSince + this.#asker.leaseMs * heldShare - performance.now();
  }

  #lose(reason: string): void {
    clearTimeout(this.#deadline);
    this.#ended.abort();
    this.#asker.lost(reason);
  }
}
