import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage, fromCloudEvent, toCloudEvent } from '../../src/transports/index.js';
import { message } from './world.js';

const sent = message('orders', {
  streamId: '0190aaaa-0000-7000-8000-00000000000a',
  payload: ['\ud83d', 'ü'],
  metadata: { traceparent: '00-1-2-01', hops: ['ü'] },
  scope: 'tenant',
  source: 'a shop/€',
  sequence: '42',
});
const wire = () => JSON.parse(Buffer.from(encodeMessage(sent)).toString()) as Record<string, unknown>;
const decode = (value: unknown) => decodeMessage(Buffer.from(JSON.stringify(value)), 'orders');
const without = (name: string) => Object.fromEntries(Object.entries(wire()).filter(([key]) => key !== name));

describe('A message on the wire', () => {
  it('a message is decoded as it was encoded, with the address where it arrived', () => {
    const expected = { ...sent, address: 'OrderPlaced' };
    expect(decodeMessage(encodeMessage(sent), 'OrderPlaced')).toEqual(expected);
    expect(fromCloudEvent(toCloudEvent(sent), 'OrderPlaced')).toEqual(expected);
  });

  it('a message without metadata, scope, stream, sequence and time is decoded as it was encoded', () => {
    const bare = message('orders', { metadata: null, sequence: null, sentAt: null });
    expect(decodeMessage(encodeMessage(bare), 'orders')).toEqual(bare);
    expect(fromCloudEvent(toCloudEvent(bare), 'orders')).toEqual(bare);
  });

  it('a message is a CloudEvent that other programs can read: the data is the bare payload', () => {
    expect(wire()).toEqual({
      specversion: '1.0',
      id: sent.messageId,
      source: 'a%20shop%2F%E2%82%AC',
      type: 'OrderPlaced',
      time: sent.sentAt,
      datacontenttype: 'application/json',
      partitionkey: sent.streamId,
      sequence: '00000000000000000042',
      traceparent: '00-1-2-01',
      whmetadata: JSON.stringify(sent.metadata),
      whscope: '"tenant"',
      data: sent.payload,
    });
    const { attributes, data } = toCloudEvent(sent);
    expect({ ...attributes, data: JSON.parse(Buffer.from(data).toString()) }).toEqual(wire());
  });

  it.each(['specversion', 'id', 'source', 'type', 'data'])('a message without %s is unreadable', (field) => {
    const content = decode(without(field));
    expect(content).toMatchObject({ address: 'orders', unreadable: expect.stringContaining(field) });
  });

  it.each([
    ['specversion', '0.3'],
    ['id', 'order-1'],
    ['id', 7],
    ['type', ''],
    ['data', null],
    ['partitionkey', 'order-1'],
    ['sequence', 'x'],
    ['whmetadata', '{'],
    ['whscope', '{'],
  ])('a message that the inbox would refuse is unreadable: %s is %j', (field, value) => {
    expect(decode({ ...wire(), [field]: value })).toHaveProperty('unreadable');
  });

  it('a message whose type is longer than the inbox takes is unreadable', () => {
    expect(decode({ ...wire(), type: 'x'.repeat(1001) })).toHaveProperty('unreadable');
    expect(decode({ ...wire(), type: 'x'.repeat(1000) })).not.toHaveProperty('unreadable');
  });

  it.each([null, 7, 'text', [[]]])('a message that is not an object is unreadable: %j', (value) => {
    expect(decode(value)).toHaveProperty('unreadable');
  });

  it('a message that JSON cannot hold cannot be encoded', () => {
    const circular: { self?: object } = {};
    circular.self = circular;
    const refused = expect.objectContaining({ code: 'INVALID_MESSAGE', retryable: false });
    for (const payload of [1n, circular]) {
      expect(() => encodeMessage(message('orders', { payload }))).toThrow(refused);
      expect(() => toCloudEvent(message('orders', { payload }))).toThrow(refused);
    }
  });
});

describe('A CloudEvent of another program', () => {
  const foreign = {
    specversion: '1.0',
    id: '7',
    source: '/till/3',
    type: 'com.example.sold',
    time: '2026-01-02T03:04:05Z',
    subject: 'receipt 12',
    partitionkey: 'receipt-12',
    region: 'north',
    data: { total: 3 },
  };

  it('a foreign CloudEvent comes in with its type, data and time, and its other attributes in the metadata', () => {
    expect(decode(foreign)).toEqual({
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      address: 'orders',
      type: 'com.example.sold',
      payload: { total: 3 },
      metadata: {
        kind: 'event',
        cloudEvent: { id: '7', source: '/till/3', subject: 'receipt 12', region: 'north' },
      },
      scope: null,
      streamId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: '/till/3',
      sequence: null,
      sentAt: '2026-01-02T03:04:05Z',
    });
  });

  it('a foreign CloudEvent in binary mode is the same message as in structured mode', () => {
    const { data, ...attributes } = foreign;
    const bytes = Buffer.from(JSON.stringify(data));
    expect(fromCloudEvent({ attributes, data: bytes }, 'orders')).toEqual(decode(foreign));
  });

  it('a foreign CloudEvent has one message id per source and id', () => {
    const idOf = (change: object) => (decode({ ...foreign, ...change }) as { messageId: string }).messageId;
    expect(idOf({ type: 'other' })).toBe(idOf({}));
    expect(new Set([idOf({}), idOf({ id: '8' }), idOf({ source: '/till/4' })]).size).toBe(3);
  });

  it('a foreign CloudEvent may carry base64, text, bytes, or nothing', () => {
    const { data: _, ...bare } = foreign;
    const payloadOf = (change: object) => (decode({ ...bare, ...change }) as { payload: unknown }).payload;
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    expect(payloadOf({})).toEqual({});
    expect(
      payloadOf({ data_base64: base64('{"a":1}'), datacontenttype: 'application/json; charset=utf-8' }),
    ).toEqual({ a: 1 });
    expect(payloadOf({ data_base64: base64('ü'), datacontenttype: 'text/plain' })).toBe('ü');
    expect(payloadOf({ data_base64: base64('x'), datacontenttype: 'image/png' })).toEqual({
      base64: base64('x'),
      contentType: 'image/png',
    });
  });
});
