import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from '../../src/transports/index.js';
import { message } from './world.js';

const decode = (value: unknown) => decodeMessage(Buffer.from(JSON.stringify(value)), 'orders');
const { address: _, ...whole } = message('orders', { streamId: '0190aaaa-0000-7000-8000-00000000000a' });

describe('A message on the wire', () => {
  it('a message is decoded as it was encoded, with the address where it arrived', () => {
    const sent = message('orders', { payload: ['\ud83d', 'ü'], metadata: { a: 1 }, scope: 'tenant' });
    expect(decodeMessage(encodeMessage(sent), 'OrderPlaced')).toEqual({ ...sent, address: 'OrderPlaced' });
  });

  it('a message of another program is read without metadata, scope and stream', () => {
    const { messageId, type, payload } = whole;
    const expected = {
      messageId,
      type,
      payload,
      address: 'orders',
      metadata: null,
      scope: null,
      streamId: null,
    };
    expect(decode({ messageId, type, payload, sentBy: 'another program' })).toEqual(expected);
  });

  it.each([
    ['messageId', undefined],
    ['messageId', 'order-1'],
    ['messageId', 7],
    ['type', undefined],
    ['type', ''],
    ['payload', undefined],
    ['payload', null],
    ['streamId', 'order-1'],
    ['streamId', 7],
  ])('a message that the inbox would refuse is unreadable: %s is %j', (field, value) => {
    expect(decode(whole)).not.toHaveProperty('unreadable');
    const reason = `Its ${field} is missing or wrong.`;
    expect(decode({ ...whole, [field]: value })).toMatchObject({ unreadable: reason, address: 'orders' });
  });

  it.each([null, 7, 'text', [[]]])('a message that is not an object is unreadable: %j', (value) => {
    expect(decode(value)).toHaveProperty('unreadable');
  });

  it('a message that JSON cannot hold cannot be encoded', () => {
    const circular: { self?: object } = {};
    circular.self = circular;
    for (const payload of [1n, circular]) {
      const refused = expect.objectContaining({ code: 'INVALID_MESSAGE', retryable: false });
      expect(() => encodeMessage(message('orders', { payload }))).toThrow(refused);
    }
  });
});
