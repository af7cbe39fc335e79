// What is held in memory, in which order, and which stream is next.
// In: items as they were handed out. Out: one at a time of each stream, streams in turn; or several, for a
// run that handles them one after the other. Called by the OrderedStreamProcessor, which runs them; nothing
// here runs anything.
// The cost does not depend on how much is held: only items that are dropped are iterated over.
import type { LazySignal } from '../../lazy-signal.js';
import { type MessageId, type StreamId, WorkBatchFlags } from '../../message.js';
import { LinkedQueue, type QueueNode } from './linked-queue.js';

/** Item that an OrderedStreamProcessor runs: a message and its stream. */
export interface OrderedItem {
  readonly messageId: MessageId;
  readonly streamId: StreamId | null;
  /** With HighPriority, its stream starts before others that could start. */
  readonly flags?: number | undefined;
}

/** An item in memory. It is queued in its stream while it has a node, else it runs. */
export interface Held<Item> {
  item: Item;
  readonly stream: HeldStream<Item>;
  node: QueueNode<Held<Item>> | undefined;
  /** Whether it is to be run by itself, because a run with others was rolled back. */
  isAlone: boolean;
  readonly slot: Slot<Item>;
  /** What aborts its run, while it runs. */
  run: QueueNode<LazySignal> | undefined;
}

/**
 * The place of an item in the map, emptied when it leaves. A Map that is filled and emptied all the time keeps what was
 * in it: its former tables, once in old memory, lead to all that follow. So they lead to empty places.
 */
interface Slot<Item> {
  held: Held<Item> | undefined;
}

/** A stream with something queued or running. A message without a stream has one of its own. */
interface HeldStream<Item> {
  readonly key: string;
  readonly siblings: Map<string, HeldStream<Item>>;
  readonly queue: LinkedQueue<Held<Item>>;
  /** Number of its items that run. They belong to one run, so they run one after the other. */
  runningCount: number;
  /** Place in a line of the streams that could start, while it has one. */
  place: QueueNode<HeldStream<Item>> | undefined;
  line: LinkedQueue<HeldStream<Item>>;
}

/** Largest number of streams in the line that are checked for an item that may join others. */
const mostLookedAt = 32;

export class HeldStreams<Item extends OrderedItem> {
  readonly #held = new Map<MessageId, Slot<Item>>();
  readonly #streams = new Map<StreamId, HeldStream<Item>>();
  readonly #loners = new Map<MessageId, HeldStream<Item>>();
  /**
   * Streams that could start. After each message its stream goes to the end, so a long one delays no other.
   */
  readonly #line = new LinkedQueue<HeldStream<Item>>();
  /** The same, of those that begin with a message of high priority. */
  readonly #urgent = new LinkedQueue<HeldStream<Item>>();
  #queuedCount = 0;

  get size(): number {
    return this.#held.size;
  }

  /** Number of items that are held and do not run. */
  get queuedCount(): number {
    return this.#queuedCount;
  }

  ids(): MessageId[] {
    return [...this.#held.keys()];
  }

  items(): Item[] {
    return Array.from(this.#held.values(), ({ held }) => (held as Held<Item>).item);
  }

  get(messageId: MessageId): Held<Item> | undefined {
    return this.#held.get(messageId)?.held;
  }

  /** Queues an item. Must not be called for an id that is held. */
  add(item: Item): Held<Item> {
    const stream = this.#streamOf(item);
    const slot: Slot<Item> = { held: undefined };
    const held: Held<Item> = { item, stream, node: undefined, isAlone: false, slot, run: undefined };
    slot.held = held;
    held.node = stream.queue.push(held);
    this.#queuedCount++;
    this.#held.set(item.messageId, slot);
    this.#place(stream);
    return held;
  }

  /** Returns the next item to run. Its stream is occupied until `free`. */
  next(): Held<Item> | undefined {
    const stream = (this.#urgent.first ?? this.#line.first)?.value;
    return stream && this.#take(stream);
  }

  /**
   * Returns an item that may join the run of this group. Streams in the line come first, so that a long
   * stream delays no other; then the next item of a stream of the group. At most `mostLookedAt` streams of
   * the line are checked.
   */
  nextBehind(group: readonly Held<Item>[], mayJoin: (held: Held<Item>) => boolean): Held<Item> | undefined {
    let looked = 0;
    for (const line of [this.#urgent, this.#line]) {
      for (let place = line.first; place && looked < mostLookedAt; looked++, place = place.behind) {
        const first = place.value.queue.first?.value;
        if (first && mayJoin(first)) return this.#take(place.value);
      }
    }
    for (const { stream } of group) {
      const first = stream.queue.first?.value;
      if (first && mayJoin(first)) return this.#take(stream);
    }
    return undefined;
  }

  /**
   * Notes that the run of this item has returned. When no item of its stream runs, the stream goes to the end
   * of the line.
   */
  free({ stream }: Held<Item>): void {
    stream.runningCount--;
    this.#place(stream);
  }

  /** Puts items that no longer run back in front of their streams, and these in front of the line. */
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
    return held.slot.held !== undefined;
  }

  /** Drops a running item. Its stream stays occupied until `free`. */
  drop({ item, slot }: Held<Item>): void {
    this.#held.delete(item.messageId);
    slot.held = undefined;
  }

  /** Removes a queued item and everything behind it in its stream, because nothing may overtake it. */
  dropFrom(held: Held<Item>): Held<Item>[] {
    return held.node ? this.#cut(held.stream, held.node) : [];
  }

  /** Removes everything that is queued in the stream of this item. */
  dropQueuedOf({ stream }: Held<Item>): Held<Item>[] {
    return stream.queue.first ? this.#cut(stream, stream.queue.first) : [];
  }

  /** Removes everything that is queued, stream by stream. */
  dropAllQueued(): Held<Item>[] {
    const streams = [...this.#streams.values(), ...this.#loners.values()];
    return streams.flatMap(({ queue }) => (queue.first ? this.dropFrom(queue.first.value) : []));
  }

  #cut(stream: HeldStream<Item>, from: QueueNode<Held<Item>>): Held<Item>[] {
    const dropped = stream.queue.cutFrom(from);
    this.#queuedCount -= dropped.length;
    for (const held of dropped) {
      held.node = undefined;
      this.drop(held);
    }
    this.#place(stream);
    return dropped;
  }

  #streamOf({ messageId, streamId }: Item): HeldStream<Item> {
    const siblings = streamId === null ? this.#loners : this.#streams;
    const key = streamId ?? messageId;
    let stream = siblings.get(key);
    if (!stream) {
      stream = {
        key,
        siblings,
        queue: new LinkedQueue(),
        runningCount: 0,
        place: undefined,
        line: this.#line,
      };
      siblings.set(key, stream);
    }
    return stream;
  }

  /** Takes the first item of a stream to run it. The stream leaves the line. */
  #take(stream: HeldStream<Item>): Held<Item> | undefined {
    const held = stream.queue.shift();
    if (!held) return undefined;
    held.node = undefined;
    this.#queuedCount--;
    stream.runningCount++;
    this.#place(stream);
    return held;
  }

  /** Adds a stream to the line or removes it from the line, and deletes a stream that has nothing left. */
  #place(stream: HeldStream<Item>, where: 'first' | 'last' = 'last'): void {
    const first = stream.queue.first?.value;
    const hasWork = first !== undefined;
    const isFree = stream.runningCount === 0;
    if (hasWork && isFree) {
      if (stream.place) return;
      const isUrgent = ((first.item.flags ?? 0) & WorkBatchFlags.HighPriority) !== 0;
      stream.line = isUrgent ? this.#urgent : this.#line;
      stream.place = stream.line[where === 'first' ? 'unshift' : 'push'](stream);
    } else if (stream.place) {
      stream.line.cut(stream.place, stream.place);
      stream.place = undefined;
    }
    if (!hasWork && isFree) stream.siblings.delete(stream.key);
  }
}
