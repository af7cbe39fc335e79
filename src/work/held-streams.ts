// What is held in memory, in which order, and which stream is next.
// In: items as they were handed out. Out: one at a time of each stream, streams in turn. Called by the
// OrderedStreamProcessor, which runs them; nothing here runs or calls anything.
// Everything costs the same however much is held: only what is dropped is gone through.
import type { MessageId, StreamId } from '../message.js';
import { LinkedQueue, type QueueNode } from './linked-queue.js';

/** What an OrderedStreamProcessor runs: a message and its stream. */
export interface OrderedItem {
  readonly messageId: MessageId;
  readonly streamId: StreamId | null;
}

/** An item in memory: in the queue of its stream while it has a node there, else running. */
export interface Held<Item> {
  item: Item;
  readonly stream: HeldStream<Item>;
  node: QueueNode<Held<Item>> | undefined;
}

/** A stream with something queued or running. A message without a stream has one of its own. */
interface HeldStream<Item> {
  readonly key: string;
  readonly siblings: Map<string, HeldStream<Item>>;
  readonly queue: LinkedQueue<Held<Item>>;
  running: Held<Item> | undefined;
  /** Its place in the line of those that could start, while it has one. */
  place: QueueNode<HeldStream<Item>> | undefined;
}

export class HeldStreams<Item extends OrderedItem> {
  readonly #held = new Map<MessageId, Held<Item>>();
  readonly #streams = new Map<StreamId, HeldStream<Item>>();
  readonly #loners = new Map<MessageId, HeldStream<Item>>();
  /** After each message a stream goes to the end, so a deep one keeps no other waiting. */
  readonly #line = new LinkedQueue<HeldStream<Item>>();

  get size(): number {
    return this.#held.size;
  }

  ids(): MessageId[] {
    return [...this.#held.keys()];
  }

  items(): Item[] {
    return Array.from(this.#held.values(), ({ item }) => item);
  }

  get(messageId: MessageId): Held<Item> | undefined {
    return this.#held.get(messageId);
  }

  /** Not to be called for an id that is held. */
  add(item: Item): Held<Item> {
    const stream = this.#streamOf(item);
    const held: Held<Item> = { item, stream, node: undefined };
    held.node = stream.queue.push(held);
    this.#held.set(item.messageId, held);
    this.#place(stream);
    return held;
  }

  /** The next to run. Its stream is taken until `free`. */
  next(): Held<Item> | undefined {
    const stream = this.#line.shift();
    const held = stream?.queue.shift();
    if (!stream || !held) return undefined;
    stream.place = undefined;
    stream.running = held;
    held.node = undefined;
    return held;
  }

  /** The run of this one has returned: its stream goes to the end of the line. */
  free({ stream }: Held<Item>): void {
    stream.running = undefined;
    this.#place(stream);
  }

  isHeld(held: Held<Item>): boolean {
    return this.#held.get(held.item.messageId) === held;
  }

  /** A running one is not held any more. Its stream stays taken until `free`. */
  drop({ item }: Held<Item>): void {
    this.#held.delete(item.messageId);
  }

  /** Takes a queued one out, with everything behind it: nothing may overtake it. */
  dropFrom(held: Held<Item>): Held<Item>[] {
    return held.node ? this.#cut(held.stream, held.node) : [];
  }

  /** Takes out everything that is queued in the stream of this one. */
  dropQueuedOf({ stream }: Held<Item>): Held<Item>[] {
    return stream.queue.first ? this.#cut(stream, stream.queue.first) : [];
  }

  /** Takes out everything that is queued, stream by stream. */
  dropAllQueued(): Held<Item>[] {
    const streams = [...this.#streams.values(), ...this.#loners.values()];
    return streams.flatMap(({ queue }) => (queue.first ? this.dropFrom(queue.first.value) : []));
  }

  #cut(stream: HeldStream<Item>, from: QueueNode<Held<Item>>): Held<Item>[] {
    const dropped = stream.queue.cutFrom(from);
    for (const held of dropped) {
      held.node = undefined;
      this.#held.delete(held.item.messageId);
    }
    this.#place(stream);
    return dropped;
  }

  #streamOf({ messageId, streamId }: Item): HeldStream<Item> {
    const siblings = streamId === null ? this.#loners : this.#streams;
    const key = streamId ?? messageId;
    let stream = siblings.get(key);
    if (!stream) {
      stream = { key, siblings, queue: new LinkedQueue(), running: undefined, place: undefined };
      siblings.set(key, stream);
    }
    return stream;
  }

  /** Puts a stream where it belongs now: in the line, out of it, or, with nothing left, away. */
  #place(stream: HeldStream<Item>): void {
    const hasWork = !stream.queue.isEmpty;
    if (hasWork && !stream.running) stream.place ??= this.#line.push(stream);
    else if (stream.place) {
      this.#line.cut(stream.place, stream.place);
      stream.place = undefined;
    }
    if (!hasWork && !stream.running) stream.siblings.delete(stream.key);
  }
}
