// Messages of about 350 bytes (event_data and metadata together), the same for every contender.
// Message ids are time-ordered (UUIDv7), as the runtime makes them; stream ids are random, as
// aggregate ids usually are.

import { randomBytes, randomUUID } from 'node:crypto';

export interface BenchMessage {
  readonly message_id: string;
  readonly destination: string;
  readonly event_type: string;
  readonly event_data: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
  readonly stream_id: string;
}

export type NextBatch = (count: number) => BenchMessage[];

/**
 * A source of messages in turn over a fixed set of streams, given or new; or with a stream for each message.
 */
export function messageSource(streams: number | 'own' | readonly string[]): NextBatch {
  const fixed =
    streams === 'own'
      ? []
      : typeof streams === 'number'
        ? Array.from({ length: streams }, () => randomUUID())
        : streams;
  let next = 0;
  const nextStream = () => (fixed.length === 0 ? randomUUID() : (fixed[next % fixed.length] ?? randomUUID()));
  return (count) =>
    Array.from({ length: count }, () => {
      const message = buildMessage(next, nextStream());
      next++;
      return message;
    });
}

function buildMessage(number: number, streamId: string): BenchMessage {
  return {
    message_id: uuidv7(),
    destination: 'orders',
    event_type: 'OrderPlacedEvent',
    event_data: {
      orderId: streamId,
      number,
      customer: 'c-48213',
      currency: 'EUR',
      lines: [
        { sku: 'WB-1001', quantity: 2, price: 19.9 },
        { sku: 'WB-2044', quantity: 1, price: 249 },
      ],
      placedAt: '2026-01-01T12:00:00.000Z',
    },
    metadata: { correlationId: streamId, causationId: streamId, source: 'bench' },
    stream_id: streamId,
  };
}

let lastMillisecond = 0;
let counter = 0;

/** A UUID that is time-ordered within this process: 48 bits of time, then a 12-bit counter, then random. */
function uuidv7(): string {
  const now = Math.max(Date.now(), lastMillisecond);
  counter = now === lastMillisecond ? counter + 1 : 0;
  lastMillisecond = now + (counter > 0xfff ? 1 : 0);
  if (counter > 0xfff) counter = 0;
  const time = lastMillisecond.toString(16).padStart(12, '0');
  const sequence = counter.toString(16).padStart(3, '0');
  const random = randomBytes(8).toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-8${random.slice(0, 3)}-${random.slice(3, 15)}`;
}
