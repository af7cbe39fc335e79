// What is held in memory, in which order, and which stream is next.
// In: items as they were handed out. Out: one at a time of each stream, streams in turn; or several, for whoever runs them one
// after the other. Called by the OrderedStreamProcessor, which runs them; nothing here runs anything.
// Everything costs the same however much is held: only what is dropped is gone through.
import type { MessageId, StreamId } from '../../message.js';
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
  /** It was run with others, and that came to nothing: now it is run by itself. */
  isAlone: boolean;
}

/** A stream with something queued or running. A message without a stream has one of its own. */
interface HeldStream<Item> {
  readonly key: string;
  readonly siblings: Map<string, HeldStream<Item>>;
  readonly queue: LinkedQueue<Held<Item>>;
  /** What of it runs: by one run, so one after the other. */
  runningCount: number;
  /** Its place in the line of those that could start, while it has one. */
  place: QueueNode<HeldStream<Item>> | undefined;
}

/** In the line, for one that may join others. */
const mostLookedAt = 32;

export class HeldStreams<Item extends OrderedItem> {
  readonly #held = new Map<MessageId, Held<Item>>();
  readonly #streams = new Map<StreamId, HeldStream<Item>>();
  readonly #loners = new Map<MessageId, HeldStream<Item>>();
  /** After each message a stream goes to the end, so a deep one keeps no other waiting. */
  readonly #line = new LinkedQueue<HeldStream<Item>>();
  #queuedCount = 0;

  get size(): number {
    return this.#held.size;
  }

  /** What does not run. */
  get queuedCount(): number {
    return this.#queuedCount;
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
    const held: Held<Item> = { item, stream, node: undefined, isAlone: false };
    held.node = stream.queue.push(held);
    this.#queuedCount++;
    this.#held.set(item.messageId, held);
    this.#place(stream);
    return held;
  }

  /** The next to run. Its stream is taken until `free`. */
  next(): Held<Item> | undefined {
    const stream = this.#line.first?.value;
    return stream && this.#take(stream);
  }

  /**
   * One that may be run behind these, by whoever runs them: of a stream whose turn it would be, so that a deep one keeps no other
   * waiting; or else the next of one of theirs. Only so many streams are looked at.
   */
  nextBehind(group: readonly Held<Item>[], mayJoin: (held: Held<Item>) => boolean): Held<Item> | undefined {
    let place = this.#line.first;
    for (let looked = 0; place && looked < mostLookedAt; looked++, place = place.behind) {
      const first = place.value.queue.first?.value;
      if (first && mayJoin(first)) return this.#take(place.value);
    }
    for (const { stream } of group) {
      const first = stream.queue.first?.value;
      if (first && mayJoin(first)) return this.#take(stream);
    }
    return undefined;
  }

  /** The run of this one has returned. When nothing of its stream runs any more, the stream goes to the end of the line. */
  free({ stream }: Held<Item>): void {
    stream.runningCount--;
    this.#place(stream);
  }

  /** They run no more, and go to where they were: in front of their streams, which are the next in the line. */
  putBack(group: readonly Held<Item>[]): void {
    for (const held of [...group].reverse()) {
      const { stream } = held;
      held.isAlone = true;
      held.node = stream.queue.unshift(held);
      this.#queuedCount++;
      stream.runningCount--;
      this.#place(stream, 'first');
    }
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
    this.#queuedCount -= dropped.length;
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
      stream = { key, siblings, queue: new LinkedQueue(), runningCount: 0, place: undefined };
      siblings.set(key, stream);
    }
    return stream;
  }

  /** Its first runs now, so the stream leaves the line. */
  #take(stream: HeldStream<Item>): Held<Item> | undefined {
    const held = stream.queue.shift();
    if (!held) return undefined;
    held.node = undefined;
    this.#queuedCount--;
    stream.runningCount++;
    this.#place(stream);
    return held;
  }

  /** Puts a stream where it belongs now: in the line, out of it, or, with nothing left, away. */
  #place(stream: HeldStream<Item>, where: 'first' | 'last' = 'last'): void {
    const hasWork = !stream.queue.isEmpty;
    const isFree = stream.runningCount === 0;
    if (hasWork && isFree) stream.place ??= this.#line[where === 'first' ? 'unshift' : 'push'](stream);
    else if (stream.place) {
      this.#line.cut(stream.place, stream.place);
      stream.place = undefined;
    }
    if (!hasWork && isFree) stream.siblings.delete(stream.key);
  }
}
