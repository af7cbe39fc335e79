import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceBusClient, ServiceBusSessionReceiver } from '@azure/service-bus';
import { unlessAborted } from '../../time-limits.js';
import type { Delivery, Receiver, Subscription } from '../transport.js';
import type { Broker } from './broker.js';
import { isFinal, isWithoutSession, isWithoutSessions } from './failures.js';
import { HeldSession } from './held-session.js';
import { nameOf, reachSubscription, withoutSessions } from './topology.js';
import { Window } from './window.js';

/** So many messages of one session may be on their way, also where the prefetch divided by the sessions is less. */
const leastCredit = 32;
/** A session without messages is given back after this time. Streams are many, so they take turns. */
const idleMs = { shard: 5_000, stream: 500 };
/** One wait for a session at a time spreads the sessions over the instances. */
const acceptors = { shard: 1, stream: 8 };
const shortPauseMs = 100;
const longestPauseMs = 2_000;
/** When nothing came for so long, the broker is asked: a wait for a session may be long, and says nothing meanwhile. */
const watchMs = 5_000;

interface Terms {
  readonly service: string;
  readonly subscription: Subscription;
  readonly deliver: (delivery: Delivery) => void;
  /** Makes or checks the subscription at the broker, until that has succeeded once. */
  readonly prepare: () => Promise<void>;
  /** Why that has not succeeded yet. */
  readonly outage: unknown;
  /** Told whether deliveries can arrive. */
  readonly onState: (error: unknown) => void;
  /** Told what went wrong with a session, in case it is no outage. */
  readonly onError: (error: unknown) => void;
}

/** Holds sessions of the service's subscription, as many as become available, and delivers their messages. */
export class Receiving implements Receiver {
  readonly #broker: Broker;
  readonly #terms: Terms;
  readonly #window: Window;
  readonly #held = new Set<HeldSession>();
  readonly #stopped = new AbortController();
  readonly #closed = new AbortController();
  #sessionEnded: (() => void)[] = [];

  constructor(broker: Broker, terms: Terms) {
    this.#broker = broker;
    this.#terms = terms;
    this.#window = new Window(terms.subscription.prefetch);
  }

  start(): void {
    for (let i = 0; i < acceptors[this.#broker.settings.sessions]; i++) void this.#accepting();
    void this.#watching();
  }

  /** A connection that died silently is noticed here, and replaced. Its sessions end, and are accepted anew. */
  async #watching(): Promise<void> {
    const { signal } = this.#closed;
    const { receiving } = this.#broker;
    for (;;) {
      await wait(watchMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      if (performance.now() - receiving.answeredAt < watchMs) continue;
      await reachSubscription(this.#broker, this.#terms.service).catch(this.#terms.onError);
    }
  }

  async #accepting(): Promise<void> {
    const { signal } = this.#stopped;
    let outage: unknown = this.#terms.outage;
    for (let failures = 0; !signal.aborted; ) {
      try {
        await unlessAborted(signal, this.#room());
        await this.#terms.prepare();
        if (outage !== undefined && !isFinal(outage)) {
          // The wait for a session may be long, and says nothing meanwhile.
          await reachSubscription(this.#broker, this.#terms.service);
          outage = undefined;
          this.#terms.onState(undefined);
        }
        const client = this.#broker.receiving.current;
        const receiver = await this.#accept(client);
        failures = 0;
        outage = undefined;
        this.#terms.onState(undefined);
        if (receiver !== undefined) await this.#hold(receiver, client);
        else await wait(shortPauseMs, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        outage = error;
        this.#terms.onState(error);
        await wait(Math.min(50 * 2 ** failures++, longestPauseMs), undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Waits until this instance can deliver more: another one may have what it cannot take. */
  async #room(): Promise<void> {
    for (;;) {
      if (this.#window.isFull) await this.#window.change();
      else if (this.#held.size >= this.#broker.settings.concurrentSessions)
        await new Promise<void>((resolve) => this.#sessionEnded.push(resolve));
      else return;
    }
  }

  /** Waits for the next session with messages. Returns undefined when there was none for some time. */
  async #accept(client: ServiceBusClient): Promise<ServiceBusSessionReceiver | undefined> {
    const { topic } = this.#broker.settings;
    const name = nameOf(this.#terms.service);
    const options = {
      maxAutoLockRenewalDurationInMs: 0,
      skipParsingBodyAsJson: true,
      skipConvertingDate: true,
    };
    const accepting = client.acceptNextSession(topic, name, options);
    try {
      const untilReplaced = { of: client, patienceMs: Number.POSITIVE_INFINITY };
      return await this.#broker.receiving.ask(() => accepting, untilReplaced);
    } catch (error) {
      // One that comes after all would be held by nobody.
      accepting.then((late) => late.close()).catch(() => {});
      if (isWithoutSession(error)) return undefined;
      throw isWithoutSessions(error) ? withoutSessions(topic, name, error) : error;
    }
  }

  /** The wait for a session cannot be called off. One that comes too late is given back. */
  async #hold(receiver: ServiceBusSessionReceiver, client: ServiceBusClient): Promise<void> {
    if (this.#stopped.signal.aborted) return receiver.close();
    const { settings, receiving } = this.#broker;
    const { subscription, deliver, onError } = this.#terms;
    const { prefetch } = subscription;
    const share = Math.ceil(prefetch / settings.concurrentSessions);
    const session = new HeldSession(receiver, {
      receiving,
      client,
      window: this.#window,
      deliver,
      credit: Math.max(share, Math.min(leastCredit, prefetch)),
      idleMs: idleMs[settings.sessions],
      // Not all at the same time.
      holdMs: settings.holdSeconds * (750 + Math.random() * 500),
      onEnd: (ended) => this.#forget(ended),
      onError,
    });
    this.#held.add(session);
    session.start();
  }

  #forget(session: HeldSession): void {
    this.#held.delete(session);
    for (const resolve of this.#sessionEnded.splice(0)) resolve();
  }

  /** Sessions with unacknowledged deliveries stay with this instance until they are acknowledged. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#closed.signal.aborted) return;
    for (const session of this.#held) session.retire();
  }

  /** Gives all sessions back at once. */
  async close(): Promise<void> {
    await this.stop();
    this.#closed.abort();
    await Promise.all([...this.#held].map((session) => session.end()));
  }
}
