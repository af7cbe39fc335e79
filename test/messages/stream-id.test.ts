import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, streamIdOf, streamNamespace } from '../../src/messages/index.js';
import { refusalOf } from './refusal.js';

const isV5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const isUuidText = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const notUuids = fc.string({ minLength: 1, unit: 'grapheme' }).filter((name) => !isUuidText.test(name));

describe('The id of a stream', () => {
  it('the stream id of a UUID is that UUID in small letters', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.boolean(), (id, upper) => {
        expect(streamIdOf(upper ? id.toUpperCase() : id)).toBe(id);
      }),
    );
  });

  it('the stream id of any other name is a UUID of version 5, always the same one', () => {
    fc.assert(
      fc.property(notUuids, (name) => {
        const id = streamIdOf(name);
        expect(id).toMatch(isV5);
        expect(streamIdOf(name)).toBe(id);
      }),
    );
  });

  it('stream ids of different names differ', () => {
    fc.assert(
      fc.property(notUuids, notUuids, (a, b) => {
        fc.pre(a !== b);
        expect(streamIdOf(a)).not.toBe(streamIdOf(b));
      }),
    );
  });

  it('a stream id is computed as RFC 9562 says, so that other programs can compute it', () => {
    const bytes = createHash('sha1')
      .update(Buffer.from(streamNamespace.replaceAll('-', ''), 'hex'))
      .update('order-1');
    const hex = bytes.digest('hex');
    const id = streamIdOf('order-1');
    expect(id.slice(0, 13)).toBe(`${hex.slice(0, 8)}-${hex.slice(8, 12)}`);
    expect(id.slice(-12)).toBe(hex.slice(20, 32));
  });

  it('the stream id of a name never changes: tables of users contain it', () => {
    expect(streamNamespace).toBe('48b2326a-d6c4-48f7-82aa-501ca0e861f9');
    expect(streamIdOf('order-1')).toBe('3237f14a-e958-5d0d-9a93-9a4427ef442b');
    expect(streamIdOf('Größe ☃')).toBe('a1332932-a6ae-5e81-84f6-8b42ec49b6e0');
  });

  it('the stream id of null and undefined is null', () => {
    expect(streamIdOf(null)).toBeNull();
    expect(streamIdOf(undefined)).toBeNull();
  });

  it.each([[''], ['00000000-0000-0000-0000-000000000000'], [7], [{}], [true]])(
    'a stream id cannot be made of %j',
    async (name) => {
      const error = await refusalOf(() => streamIdOf(name as string), 'INVALID_MESSAGE');
      expect(error.message).toContain('stream id');
    },
  );
});

describe('The stream rule of a definition', () => {
  const ruled = (stream: (payload: { id: string }) => string | null | undefined) =>
    defineEvent('OrderPlaced', { schema: z.object({ id: z.string() }), stream });

  it('the stream rule of a definition gives the stream id of a payload', () => {
    const id = randomUUID();
    expect(ruled((order) => order.id).streamOf({ id })).toBe(id);
    expect(ruled((order) => `order ${order.id}`).streamOf({ id })).toBe(streamIdOf(`order ${id}`));
    expect(ruled(() => undefined).streamOf({ id })).toBeNull();
  });

  it('a stream rule that gives an empty id is refused with the type of the message', async () => {
    const error = await refusalOf(() => ruled((order) => order.id).streamOf({ id: '' }), 'INVALID_MESSAGE');
    expect(error.message).toBe('OrderPlaced: the stream id that the function stream returned is empty.');
    expect(error.details.type).toBe('OrderPlaced');
  });

  it('a stream rule that throws is refused with its error', async () => {
    const cause = new Error('x');
    const rule = ruled(() => {
      throw cause;
    });
    const error = await refusalOf(() => rule.streamOf({ id: 'a' }), 'INVALID_MESSAGE');
    expect(error).toMatchObject({ message: 'OrderPlaced: the function stream threw an error.', cause });
  });
});
