// Watches the order in which deliveries of a stream arrive, in memory.
// In: deliveries, as they come, are stored and are rejected. Out: the message that a delivery should have come before.
// Called by the intake. It compares only messages that one sender handed out in one run: of two senders, or of one that
// was started again, nobody here knows who was first. A delivery that comes again is told too: the inbox knows it.
import type { Delivery, TransportMessage } from '../../transports/index.js';

interface Arrival {
  readonly number: number;
  readonly messageId: string;
}

interface StreamArrivals {
  /** The last one that was delivered; after a rejection, the last one that was stored. */
  taken: Arrival | undefined;
  stored: Arrival | undefined;
}

/** How many streams it remembers: those that were delivered last. */
const mostStreams = 10_000;

export class ArrivalOrder {
  readonly #streams = new Map<string, StreamArrivals>();

  /** Returns the message that was delivered before this one, though it was handed out later. */
  take(content: Delivery['content']): string | undefined {
    const arrival = arrivalOf(content);
    if (arrival === undefined) return undefined;
    const { key, ...own } = arrival;
    const stream = this.#streams.get(key) ?? { taken: undefined, stored: undefined };
    this.#streams.delete(key);
    this.#streams.set(key, stream);
    if (this.#streams.size > mostStreams) this.#streams.delete(this.#streams.keys().next().value as string);
    const last = later(stream.taken, stream.stored);
    stream.taken = later(stream.taken, own);
    return last !== undefined && last.number > own.number ? last.messageId : undefined;
  }

  stored(content: Delivery['content']): void {
    const arrival = arrivalOf(content);
    const stream = this.#streams.get(arrival?.key ?? '');
    if (stream !== undefined) stream.stored = later(stream.stored, arrival);
  }

  /** What was delivered and not stored comes again, in order. */
  rejected(content: Delivery['content']): void {
    const stream = this.#streams.get(arrivalOf(content)?.key ?? '');
    if (stream !== undefined) stream.taken = undefined;
  }
}

function arrivalOf(content: Delivery['content']): (Arrival & { readonly key: string }) | undefined {
  const { streamId, place, messageId } = content as Partial<TransportMessage>;
  if (streamId == null || place === undefined || messageId === undefined) return undefined;
  const [run, digits] = place.split('.');
  const number = Number(digits);
  return Number.isSafeInteger(number) ? { key: `${streamId} ${run}`, number, messageId } : undefined;
}

function later(one: Arrival | undefined, other: Arrival | undefined): Arrival | undefined {
  return one === undefined || (other !== undefined && other.number > one.number) ? other : one;
}
