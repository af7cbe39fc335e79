import type { Message } from 'rhea';
import { SessionEntity } from './session-entity.js';

/** A filter of a subscription: everything, nothing, or messages whose `to` is this. */
export type Filter = { readonly sql: string } | { readonly to: string };

interface SubscriptionSettings {
  readonly requiresSession?: boolean;
  readonly lockMs?: number;
  readonly maxDeliveryCount?: number;
  readonly rules?: Readonly<Record<string, Filter>>;
}

export class StandInSubscription extends SessionEntity {
  readonly rules = new Map<string, Filter>();

  takes(message: Message): boolean {
    return [...this.rules.values()].some((filter) =>
      'to' in filter ? message.to === filter.to : filter.sql === '1=1',
    );
  }
}

/** The topics of a Service Bus, with names in any case of letters, and what their subscriptions hold. */
export class Namespace {
  readonly #topics = new Map<string, Map<string, StandInSubscription>>();

  published = 0;

  createTopic(name: string): void {
    this.#topics.set(name.toLowerCase(), new Map());
  }

  createSubscription(topic: string, name: string, settings: SubscriptionSettings = {}): StandInSubscription {
    const subscription = new StandInSubscription(`${topic}/Subscriptions/${name}`, {
      requiresSession: settings.requiresSession ?? true,
      lockMs: settings.lockMs ?? 30_000,
      maxDeliveryCount: settings.maxDeliveryCount ?? 10,
    });
    for (const [rule, filter] of Object.entries(settings.rules ?? { $Default: { sql: '1=1' } }))
      subscription.rules.set(rule, filter);
    this.#topics.get(topic.toLowerCase())?.set(name.toLowerCase(), subscription);
    return subscription;
  }

  hasTopic(name: string): boolean {
    return this.#topics.has(name.toLowerCase());
  }

  subscription(topic: string, name: string): StandInSubscription | undefined {
    return this.#topics.get(topic.toLowerCase())?.get(name.toLowerCase());
  }

  /** By the path of a link, which is `topic/Subscriptions/name`. */
  byPath(path: string): StandInSubscription | undefined {
    const [, topic, name] = /^(.+)\/subscriptions\/([^/]+)$/i.exec(path) ?? [];
    return topic === undefined || name === undefined ? undefined : this.subscription(topic, name);
  }

  subscriptions(): readonly StandInSubscription[] {
    return [...this.#topics.values()].flatMap((topic) => [...topic.values()]);
  }

  /** All of a batch or nothing: this cannot fail between two messages. */
  publish(topic: string, messages: readonly Message[]): void {
    for (const message of messages) {
      this.published++;
      for (const subscription of this.#topics.get(topic.toLowerCase())?.values() ?? [])
        if (subscription.takes(message)) subscription.store(message);
    }
  }
}
