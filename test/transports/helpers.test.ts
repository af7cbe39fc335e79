import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressName, sendInWaves, shardOf, type TransportMessage } from '../../src/transports/index.js';
import { ids, interleaved, message, stream } from './world.js';

describe('The name of an address at a broker', () => {
  const rules = { max: 80 };

  it('the usual addresses stay as they are', () => {
    expect(addressName('orders', rules)).toBe('orders');
    expect(addressName('OrderPlaced-v2', rules)).toBe('OrderPlaced-v2');
    expect(addressName('shop.orders', { max: 80, also: '.' })).toBe('shop.orders');
  });

  it('any address becomes a name of allowed characters that fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }), (address) => {
        expect(addressName(address, rules)).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
      }),
    );
  });

  it('two addresses never have the same name', () => {
    const alike = fc.string({
      unit: fc.constantFrom('a', 'A', '_', '2', 'e', 'h', '.', ' ', 'é'),
      minLength: 1,
      maxLength: 6,
    });
    for (const caseless of [false, true]) {
      const nameOf = (address: string) => {
        const name = addressName(address, { max: 80, caseless });
        return caseless ? name.toLowerCase() : name;
      };
      fc.assert(
        fc.property(alike, alike, (a, b) => (a === b) === (nameOf(a) === nameOf(b))),
        { numRuns: 5_000 },
      );
    }
    const long = 'x'.repeat(300);
    expect(addressName(`${long}1`, rules)).not.toBe(addressName(`${long}2`, rules));
  });

  it.each(['', '\ud83d'])('an address that no broker can spell is refused: %j', (address) => {
    expect(() => addressName(address, rules)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });
});

describe('The shard of a stream', () => {
  it('the shard of a stream is the same for ever, in any case of its letters', () => {
    const id = '0190aaaa-0000-7000-8000-00000000000a';
    expect([2, 16, 1000].map((count) => shardOf(id, count))).toEqual([1, 1, 193]);
    expect(shardOf(id.toUpperCase(), 1000)).toBe(193);
  });

  it('streams spread over all shards', () => {
    const shards = Array.from({ length: 8_000 }, () => shardOf(randomUUID(), 8));
    const counts = Array.from({ length: 8 }, (_, shard) => shards.filter((each) => each === shard).length);
    expect(Math.min(...counts)).toBeGreaterThan(800);
  });
});

describe('Sending in waves', () => {
  it('a wave has no two messages of a stream, and all are sent in the order of their streams', async () => {
    const messages = interleaved([
      stream('orders', 3),
      stream('orders', 5),
      [message('orders')],
      [message('orders')],
    ]);
    const waves: (readonly TransportMessage[])[] = [];

    const outcomes = await sendInWaves(messages, async (wave) => {
      waves.push(wave);
      return wave.map(() => ({ kind: 'sent' }));
    });

    expect(outcomes).toEqual(messages.map(() => ({ kind: 'sent' })));
    expect(waves.map(({ length }) => length)).toEqual([4, 2, 2, 1, 1]);
    expect(ids(waves.flat())).toEqual(ids(messages));
  });

  it('a message that was not sent holds back the later ones of its stream and no others', async () => {
    const [a, b] = [stream('orders', 3), stream('orders', 3)];

    const outcomes = await sendInWaves([...a, ...b], async (wave) =>
      wave.map((each) => (each === a[1] ? { kind: 'failed', error: 'no' } : { kind: 'sent' })),
    );

    const kinds = ['sent', 'failed', 'held-back', 'sent', 'sent', 'sent'];
    expect(outcomes.map(({ kind }) => kind)).toEqual(kinds);
  });
});
