import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../logger.js';
import type { Delivery, QueueFacts, TransportConnection } from '../transport.js';

const lookAgainMs = 50;

interface HoldOptions {
  readonly older: readonly { readonly name: string; readonly connection: TransportConnection }[];
  /** Resolves when the older ones are subscribed: before that, they may not know what waits there. */
  readonly subscribed: Promise<unknown>;
  /** What the older transports have handed to this instance and is not stored yet. */
  readonly open: ReadonlySet<Delivery>;
  readonly deliver: (delivery: Delivery) => void;
  readonly logger: Logger;
}

/**
 * Deliveries of a newer transport, kept back until the older ones have nothing more for this service. An earlier message
 * of a stream may have been sent before the newer transport was in use, and still wait at an older one. It was there
 * before the later one was anywhere: once the older queues were seen empty after the later one has arrived, it is stored.
 */
export class HeldDeliveries {
  readonly #options: HoldOptions;
  readonly #stopped = new AbortController();
  /** The transports that a warning has named. */
  readonly #named = new Set<string>();
  #held: Delivery[] = [];
  #isLooking = false;

  constructor(options: HoldOptions) {
    this.#options = options;
  }

  readonly take = (delivery: Delivery): void => {
    this.#held.push(delivery);
    if (!this.#isLooking) void this.#look();
  };

  /** Hands out no more, and gives back what it holds. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#giveBack();
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    const { signal } = this.#stopped;
    const { subscribed, deliver } = this.#options;
    await subscribed.catch(() => {}); // who subscribes is told, and stops this
    while (this.#held.length > 0 && !signal.aborted) {
      const held = this.#held;
      const { length } = held;
      if (!(await this.#areOlderEmpty())) await pause(lookAgainMs, undefined, { signal }).catch(() => {});
      // What came during the look waits for the next one. What was given back meanwhile comes again.
      else if (held === this.#held && !signal.aborted) {
        for (const delivery of held.splice(0, length)) deliver(this.#withThoseBehind(delivery));
      }
    }
    this.#isLooking = false;
  }

  async #areOlderEmpty(): Promise<boolean> {
    const { older, open } = this.#options;
    try {
      const counts = await Promise.all(
        older.map(async ({ name, connection }) => {
          const queues = await connection.inspect?.();
          this.#warnOfUntold(name, queues);
          return (queues ?? []).map(({ depth, unacknowledged }) => (depth ?? 0) + (unacknowledged ?? 0));
        }),
      );
      return open.size === 0 && counts.flat().every((count) => count === 0);
    } catch {
      return false; // It is away, and nobody knows what it has.
    }
  }

  #warnOfUntold(transport: string, queues: readonly QueueFacts[] | undefined): void {
    const isUntold = (fact: 'depth' | 'unacknowledged') =>
      queues?.some((queue) => queue[fact] === null) ?? true;
    const untold = (['depth', 'unacknowledged'] as const).filter(isUntold);
    if (untold.length === 0 || this.#named.has(transport)) return;
    this.#named.add(transport);
    this.#options.logger.warn({ transport, untold }, hints[untold[0] as keyof typeof hints]);
  }

  /** Rejecting a delivery returns what it holds, too: that may be of the same stream. */
  #withThoseBehind(delivery: Delivery): Delivery {
    return {
      content: delivery.content,
      acknowledge: () => delivery.acknowledge(),
      reject: async () => {
        await delivery.reject();
        await this.#giveBack();
      },
    };
  }

  async #giveBack(): Promise<void> {
    const held = this.#held;
    this.#held = [];
    for (const delivery of held) await delivery.reject();
  }
}

const hints = {
  depth:
    'A combined transport does not tell how many messages wait there; one of a newer transport may overtake them. Keep order by stopping the senders until the older transport is empty',
  unacknowledged:
    'A combined transport does not tell how many messages other instances have not stored yet; one of a newer transport may overtake them. Keep order by running one instance during the move',
};
