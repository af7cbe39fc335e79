import { EventEmitter, once } from 'node:events';
import { WhizbangError } from '../../errors.js';
import { type QueuedMessage, ServiceQueue } from './service-queue.js';

/** A broker in memory: one queue per service, bound to addresses, for as long as the hub exists. */
export class Hub {
  readonly #queues = new Map<string, ServiceQueue>();
  readonly #bindings = new Map<string, Set<ServiceQueue>>();
  readonly #news = new EventEmitter();
  #isAway = false;
  /** How many more messages are accepted before the outage begins. */
  #acceptsMore = Number.POSITIVE_INFINITY;
  #unordered = 0;

  /** Returns the service's queue, which from now on receives what is sent to these addresses. */
  bind(service: string, addresses: readonly string[]): ServiceQueue {
    this.refuseWhenAway();
    let queue = this.#queues.get(service);
    if (queue === undefined) {
      queue = new ServiceQueue();
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
      this.goAway();
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

  goAway(afterMessages = 0): void {
    this.#acceptsMore = afterMessages;
    if (afterMessages > 0) return;
    this.#isAway = true;
    for (const queue of this.#queues.values()) queue.pause();
  }

  comeBack(): void {
    this.#isAway = false;
    this.#acceptsMore = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) queue.resume();
    this.#news.emit('back');
  }

  async untilBack(signal: AbortSignal): Promise<void> {
    while (this.#isAway && !signal.aborted) {
      await once(this.#news, 'back', { signal }).catch(() => signal.throwIfAborted());
    }
    signal.throwIfAborted();
  }

  refuseWhenAway(): void {
    if (this.#isAway) {
      throw new WhizbangError('TRANSPORT_UNAVAILABLE', {
        message: 'The in-process transport cannot be reached.',
      });
    }
  }
}
