import { EventEmitter, once } from 'node:events';
import { WhizbangError } from '../../errors.js';
import type { QueueFacts } from '../transport.js';
import { type QueuedMessage, ServiceQueue } from './service-queue.js';

/** A broker in memory: one queue per service, bound to addresses, for as long as the hub exists. */
export class Hub {
  readonly #queues = new Map<string, ServiceQueue>();
  readonly #bindings = new Map<string, Set<ServiceQueue>>();
  readonly #news = new EventEmitter().setMaxListeners(0);
  #isAway = false;
  /** How many more messages are accepted before the outage begins. */
  #acceptsMore = Number.POSITIVE_INFINITY;
  /** How many messages the outage loses before it ends by itself. */
  #losesMore = Number.POSITIVE_INFINITY;
  #unordered = 0;

  /** Returns the service's queue, which from now on receives what is sent to these addresses. */
  bind(service: string, addresses: readonly string[]): ServiceQueue {
    let queue = this.#queues.get(service);
    if (queue === undefined) {
      queue = new ServiceQueue();
      if (this.#isAway) queue.pause();
      this.#queues.set(service, queue);
    }
    for (const address of addresses) {
      const bound = this.#bindings.get(address);
      if (bound === undefined) this.#bindings.set(address, new Set([queue]));
      else bound.add(queue);
    }
    return queue;
  }

  /**
   * Adds a copy to the queue of each subscribed service. A message without a stream is independent of all
   * others.
   */
  accept(streamId: string | null, message: QueuedMessage): void {
    this.refuseWhenAway();
    if (this.#acceptsMore === 0) {
      this.#begin();
      this.refuseWhenAway();
    }
    this.#acceptsMore--;
    const key = streamId?.toLowerCase() ?? `unordered ${++this.#unordered}`;
    for (const queue of this.#bindings.get(message.address) ?? []) queue.add(key, message);
  }

  pending(service?: string): number {
    if (service !== undefined) return this.#queues.get(service)?.size ?? 0;
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.size, 0);
  }

  inspect(service: string): readonly QueueFacts[] {
    const queue = this.#queues.get(service);
    return queue === undefined ? [] : [{ name: service, ...queue.facts() }];
  }

  /** Tells whether the hub is away, now and whenever it changes. Returns what ends that. */
  watch(tell: (isAway: boolean) => void): () => void {
    const listener = () => tell(this.#isAway);
    this.#news.on('state', listener);
    listener();
    return () => void this.#news.off('state', listener);
  }

  goAway(afterMessages = 0, forMessages = Number.POSITIVE_INFINITY): void {
    this.#acceptsMore = afterMessages;
    this.#losesMore = forMessages;
    if (afterMessages === 0) this.#begin();
  }

  #begin(): void {
    this.#isAway = true;
    this.#news.emit('state');
    for (const queue of this.#queues.values()) queue.pause();
  }

  comeBack(): void {
    this.#isAway = false;
    this.#acceptsMore = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) queue.resume();
    this.#news.emit('back');
    this.#news.emit('state');
  }

  async untilBack(signal: AbortSignal): Promise<void> {
    while (this.#isAway && !signal.aborted) {
      await once(this.#news, 'back', { signal }).catch(() => signal.throwIfAborted());
    }
    signal.throwIfAborted();
  }

  /** Each refusal is one message that the outage has lost. */
  refuseWhenAway(): void {
    if (this.#isAway) {
      if (--this.#losesMore === 0) this.comeBack();
      throw new WhizbangError('TRANSPORT_UNAVAILABLE', {
        message: 'The in-process transport cannot be reached.',
      });
    }
  }
}
