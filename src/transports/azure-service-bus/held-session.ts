import type {
  ServiceBusClient,
  ServiceBusReceivedMessage,
  ServiceBusSessionReceiver,
} from '@azure/service-bus';
import type { Delivery } from '../transport.js';
import { type ReplaceableClient, within } from './replaceable-client.js';
import type { Window } from './window.js';
import { fromWire } from './wire-message.js';

const tickMs = 250;
const closeMs = 3_000;
/** So long a session waits for room in the window of an instance that has none of it in hand. */
const patienceMs = 1_000;
const longestRenewalMs = 20_000;
const shortestRenewalMs = 400;

interface Terms {
  readonly receiving: ReplaceableClient;
  /** The one that accepted the session. */
  readonly client: ServiceBusClient;
  readonly window: Window;
  readonly deliver: (delivery: Delivery) => void;
  /** How many messages of the session may be on their way or unacknowledged. */
  readonly credit: number;
  readonly idleMs: number;
  readonly holdMs: number;
  readonly onEnd: (session: HeldSession) => void;
  /** Told what went wrong, in case it is no outage. */
  readonly onError: (error: unknown) => void;
}

/** A message of the session that is neither completed nor given back. */
interface Unsettled {
  isDelivered: boolean;
  onEnd?: () => void;
  readonly done: () => void;
}

/**
 * A session that this instance holds. Nobody else gets its messages until it ends: when it is idle, when a delivery is
 * rejected, when it was held for long, or when its lock is lost. All that is not completed then is at the broker again,
 * in its place. Closing does not count as a delivery there, unlike `abandon`, so no limit of deliveries comes near.
 */
export class HeldSession {
  readonly #receiver: ServiceBusSessionReceiver;
  readonly #terms: Terms;
  readonly #unsettled = new Set<Unsettled>();
  readonly #heldSince = performance.now();
  readonly #renewEveryMs: number;
  #renewAt: number;
  #busyAt = performance.now();
  #waitingSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isRenewing = false;
  #isRetiring = false;
  #isEnded = false;
  #closing: Promise<void> | undefined;

  constructor(receiver: ServiceBusSessionReceiver, terms: Terms) {
    this.#receiver = receiver;
    this.#terms = terms;
    // A part of the lock's time, and within bounds, because the broker's clock may differ from ours.
    const lockMs = receiver.sessionLockedUntilUtc.getTime() - Date.now();
    this.#renewEveryMs = Math.min(Math.max(lockMs / 3, shortestRenewalMs), longestRenewalMs);
    this.#renewAt = performance.now() + this.#renewEveryMs;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), tickMs);
    this.#timer.unref();
    this.#receiver.subscribe(
      {
        processMessage: (message) => this.#take(message),
        processError: async ({ error }) => this.#endBy(error),
      },
      { autoCompleteMessages: false, maxConcurrentCalls: this.#terms.credit },
    );
  }

  /** Resolves when the message is settled: the client asks for one more then. */
  async #take(message: ServiceBusReceivedMessage): Promise<void> {
    this.#busyAt = performance.now();
    this.#terms.receiving.noteAnswer();
    await new Promise<void>((done) => {
      const unsettled: Unsettled = { isDelivered: false, done };
      this.#unsettled.add(unsettled);
      if (this.#isEnded) this.#settle(unsettled);
      else if (!this.#isRetiring) this.#offer(message, unsettled);
    });
  }

  #offer(message: ServiceBusReceivedMessage, unsettled: Unsettled): void {
    const { window, deliver } = this.#terms;
    let isDone = false;
    const once = async (act: () => Promise<void>) => {
      if (isDone) return;
      isDone = true;
      await act();
    };
    window.offer(this, () => {
      unsettled.isDelivered = true;
      deliver({
        content: fromWire(message),
        acknowledge: () => once(() => this.#complete(message, unsettled)),
        reject: () => once(() => this.end()),
      });
    });
  }

  async #complete(message: ServiceBusReceivedMessage, unsettled: Unsettled): Promise<void> {
    if (this.#isEnded) return;
    await new Promise<void>((resolve) => {
      // The end of the session settles it too: over a connection that is gone the client waits for a minute.
      unsettled.onEnd = resolve;
      void this.#receiver
        .completeMessage(message)
        .catch((error: unknown) => this.#endBy(error))
        .finally(resolve);
    });
    this.#settle(unsettled);
    if (this.#isRetiring) this.#endWhenDone();
  }

  #settle(unsettled: Unsettled): void {
    if (!this.#unsettled.delete(unsettled)) return;
    this.#busyAt = performance.now();
    if (unsettled.isDelivered) this.#terms.window.release();
    unsettled.done();
  }

  /** Delivers no more, and ends when what was delivered is acknowledged. */
  retire(): void {
    if (this.#isRetiring) return;
    this.#isRetiring = true;
    this.#terms.window.drop(this);
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (!this.#hasDelivered()) void this.end();
  }

  #hasDelivered(): boolean {
    return [...this.#unsettled].some(({ isDelivered }) => isDelivered);
  }

  /** Whether all of it waits behind other sessions for some time: another instance may have room. */
  #isWithoutRoom(now: number): boolean {
    if (this.#unsettled.size === 0 || this.#hasDelivered()) this.#waitingSince = undefined;
    else this.#waitingSince ??= now;
    return this.#waitingSince !== undefined && now - this.#waitingSince > patienceMs;
  }

  #tick(): void {
    const now = performance.now();
    const { idleMs, holdMs, receiving, client } = this.#terms;
    if (this.#receiver.isClosed || receiving.current !== client) void this.end();
    else if (this.#unsettled.size === 0 && now - this.#busyAt > idleMs) void this.end();
    else if (now - this.#heldSince > holdMs) this.retire();
    else if (this.#isWithoutRoom(now)) void this.end();
    if (!this.#isEnded && now >= this.#renewAt && !this.#isRenewing) void this.#renew();
  }

  async #renew(): Promise<void> {
    this.#isRenewing = true;
    try {
      const { receiving, client } = this.#terms;
      await receiving.ask(() => this.#receiver.renewSessionLock(), { of: client });
      this.#renewAt = performance.now() + this.#renewEveryMs;
    } catch (error) {
      this.#terms.onError(error);
      // Tried again at the next tick. When the lock is lost, the broker closes the link.
    } finally {
      this.#isRenewing = false;
    }
  }

  #endBy(error: unknown): void {
    this.#terms.onError(error);
    void this.end();
  }

  /** Gives the session back. What was delivered and is not acknowledged comes again, to whoever gets the session. */
  async end(): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#closing = this.#close();
    }
    await this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    this.#terms.window.drop(this);
    const closing = this.#receiver.close().catch(() => {});
    for (const unsettled of this.#unsettled) {
      this.#settle(unsettled);
      unsettled.onEnd?.();
    }
    await within(closeMs, closing);
    this.#terms.onEnd(this);
  }
}
