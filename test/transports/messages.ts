// Messages to try a transport with.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Delivery, TransportMessage } from '../../src/transports/index.js';
import type { StoredMessage } from './subject.js';

export function messageOf({ content }: Delivery): TransportMessage {
  if ('unreadable' in content) throw new Error(`A message was expected: ${content.unreadable}`);
  return content;
}

export function message(address: string, fields: Partial<TransportMessage> = {}): TransportMessage {
  return {
    messageId: randomUUID(),
    address,
    type: 'OrderPlaced',
    payload: { total: 1 },
    metadata: {},
    scope: null,
    streamId: null,
    source: 'shop',
    sequence: String(++sequence),
    sentAt: '2026-01-01T00:00:00.000Z',
    ...fields,
  };
}

let sequence = 0;

/** What the inbox has a column for. */
export function storedPart(message: TransportMessage): StoredMessage {
  const { address: _, source: __, sequence: ___, sentAt: ____, ...stored } = message;
  return stored;
}

/** Messages of one stream, numbered. */
export function stream(address: string, count: number, streamId = randomUUID()): TransportMessage[] {
  return Array.from({ length: count }, (_, number) => message(address, { streamId, payload: { number } }));
}

/** Of each stream in turn, as they come when many are busy at the same time. */
export function interleaved(streams: readonly TransportMessage[][]): TransportMessage[] {
  const longest = Math.max(...streams.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => streams.flatMap((each) => each.slice(i, i + 1))).flat();
}

export function ids(messages: readonly { readonly messageId: string }[]): string[] {
  return messages.map(({ messageId }) => messageId);
}

/** Every stream of the arrivals is in the order of the sent ones. */
export function expectOrder(arrived: readonly StoredMessage[], sent: readonly TransportMessage[]): void {
  const streams = new Set(sent.map(({ streamId }) => streamId));
  for (const streamId of streams) {
    const of = (messages: readonly StoredMessage[]) =>
      ids(messages.filter((each) => each.streamId === streamId));
    expect(of(arrived)).toEqual(of(sent));
  }
}
