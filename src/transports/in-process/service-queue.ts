// What waits for one service: streams, of which each is held by one consumer while it has unacknowledged messages.
// In: messages in the order of sending; consumers with their prefetch. Out: deliveries, in turn to those with room.
// Called by the hub. It never delivers inside a call of somebody else, and never looks into a message.
import type { QueueFacts } from '../transport.js';

export interface QueuedMessage {
  readonly address: string;
  readonly bytes: Uint8Array;
}

/** One message handed to one consumer. Once it was given back, acknowledging it does nothing. */
export interface Handout {
  readonly message: QueuedMessage;
  acknowledge(): void;
  giveBack(): void;
}

interface Entry {
  /** Position in the order of arrival. */
  readonly position: number;
  readonly message: QueuedMessage;
  handout?: Handout | undefined;
}

/**
 * A stream and its messages. The first `handedOut` entries are with the holder, the others wait behind them.
 */
interface Stream {
  readonly key: string;
  readonly entries: Entry[];
  handedOut: number;
  holder?: Consumer | undefined;
}

export interface Consumer {
  readonly prefetch: number;
  readonly deliver: (handout: Handout) => void;
  /** Streams that this consumer holds and that have more messages for it. */
  readonly held: Set<Stream>;
  unacknowledged: number;
  isStopped: boolean;
}

/** Limit per turn, so that a consumer that acknowledges at once does not block the event loop. */
const handoutsPerTurn = 64;

export class ServiceQueue {
  /** The number of entries that wait or are unacknowledged. */
  size = 0;
  readonly #streams = new Map<string, Stream>();
  /** Streams that no consumer holds, the one that has waited longest first. */
  readonly #free = new Set<Stream>();
  /** Consumers in the order of their turns. */
  #consumers: Consumer[] = [];
  #arrivals = 0;
  #isPaused = false;
  #isTurnComing = false;

  add(streamKey: string, message: QueuedMessage): void {
    let stream = this.#streams.get(streamKey);
    if (stream === undefined) {
      stream = { key: streamKey, entries: [], handedOut: 0 };
      this.#streams.set(streamKey, stream);
    }
    stream.entries.push({ position: ++this.#arrivals, message });
    this.size++;
    this.#offer(stream);
  }

  consume(prefetch: number, deliver: (handout: Handout) => void): Consumer {
    const consumer = { prefetch, deliver, held: new Set<Stream>(), unacknowledged: 0, isStopped: false };
    this.#consumers.push(consumer);
    this.#callTurn();
    return consumer;
  }

  /** Stops deliveries to this consumer. What it has stays with it until it is acknowledged or given back. */
  stop(consumer: Consumer): void {
    consumer.isStopped = true;
    this.#consumers = this.#consumers.filter((other) => other !== consumer);
  }

  /** Returns its unacknowledged messages to their places in the queue. */
  giveBackAll(consumer: Consumer): void {
    for (const stream of this.#streams.values()) {
      if (stream.holder === consumer) this.#giveBackFrom(stream, 0);
    }
  }

  pause(): void {
    this.#isPaused = true;
    for (const stream of this.#streams.values()) this.#giveBackFrom(stream, 0);
  }

  resume(): void {
    this.#isPaused = false;
    this.#callTurn();
  }

  facts(): Omit<QueueFacts, 'name'> {
    const unacknowledged = this.#consumers.reduce((sum, consumer) => sum + consumer.unacknowledged, 0);
    return {
      depth: this.size - unacknowledged,
      unacknowledged,
      consumers: this.#consumers.length,
      oldestSeconds: null,
    };
  }

  #callTurn(): void {
    if (this.#isTurnComing || this.#isPaused) return;
    this.#isTurnComing = true;
    setImmediate(() => {
      this.#isTurnComing = false;
      for (let handouts = 0; handouts < handoutsPerTurn; handouts++) {
        if (!this.#handOutOne()) return;
      }
      this.#callTurn();
    });
  }

  #handOutOne(): boolean {
    if (this.#isPaused) return false;
    for (const consumer of this.#consumers) {
      const stream = consumer.unacknowledged < consumer.prefetch ? this.#nextFor(consumer) : undefined;
      if (stream === undefined) continue;
      this.#consumers = [...this.#consumers.filter((other) => other !== consumer), consumer];
      this.#handOut(stream, consumer);
      return true;
    }
    return false;
  }

  #nextFor(consumer: Consumer): Stream | undefined {
    const [held] = consumer.held;
    const [free] = this.#free;
    if (held === undefined || free === undefined) return held ?? free;
    return nextPosition(held) < nextPosition(free) ? held : free;
  }

  #handOut(stream: Stream, consumer: Consumer): void {
    const entry = stream.entries[stream.handedOut++] as Entry;
    stream.holder = consumer;
    consumer.unacknowledged++;
    this.#free.delete(stream);
    consumer.held.delete(stream);
    this.#offer(stream);
    const handout: Handout = {
      message: entry.message,
      acknowledge: () => {
        if (entry.handout === handout) this.#remove(stream, entry);
      },
      giveBack: () => {
        if (entry.handout === handout) this.#giveBackFrom(stream, stream.entries.indexOf(entry));
      },
    };
    entry.handout = handout;
    consumer.deliver(handout);
  }

  #remove(stream: Stream, entry: Entry): void {
    const index = stream.entries.indexOf(entry);
    if (index === 0) stream.entries.shift();
    else stream.entries.splice(index, 1);
    entry.handout = undefined;
    this.size--;
    this.#takeFromHolder(stream, 1);
  }

  /**
   * Takes back this message and those handed out after it: delivery restarts from there, which keeps the
   * stream in order.
   */
  #giveBackFrom(stream: Stream, index: number): void {
    const returned = stream.entries.slice(index, stream.handedOut);
    for (const entry of returned) entry.handout = undefined;
    this.#takeFromHolder(stream, returned.length);
  }

  #takeFromHolder(stream: Stream, count: number): void {
    stream.handedOut -= count;
    if (stream.holder !== undefined) stream.holder.unacknowledged -= count;
    if (stream.handedOut === 0) {
      stream.holder?.held.delete(stream);
      stream.holder = undefined;
    }
    if (stream.entries.length === 0) this.#streams.delete(stream.key);
    this.#offer(stream);
  }

  #offer(stream: Stream): void {
    if (stream.handedOut < stream.entries.length) (stream.holder?.held ?? this.#free).add(stream);
    this.#callTurn();
  }
}

const nextPosition = (stream: Stream) => (stream.entries[stream.handedOut] as Entry).position;
