import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { service } from './service.js';

const Anything = defineEvent('Anything', {
  schema: z.object({ orderId: z.string(), value: z.unknown() }),
  stream: ({ orderId }) => orderId,
});

const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;

const survivors: [string, unknown][] = [
  ['a key called __proto__', JSON.parse('{"__proto__": {"isAdmin": true}, "constructor": 1, "toString": 2}')],
  ['keys that are none in code', { '': 1, 'a.b': 2, '"': 3, '\\': 4, '☃': 5, '\n': 6 }],
  ['numbers at their ends', [1e308, 5e-324, -1.5, 2 ** 53 - 1, 0.1 + 0.2]],
  ['text in every script', 'ﷺ 🧨 e\u0301 \u202e \ufffe \u0001 \u007f'],
  ['text that looks like what cannot be stored', '\\u0000 \\ud800'],
  ['much of it', 'x'.repeat(2_000_000)],
  ['what is deep', nested(500)],
  ['what is empty', [{}, [], '', null, false, 0]],
];

class Circle {
  readonly me = this;
}

const refused: [string, unknown, RegExp][] = [
  ['a zero character', { deep: ['a\0b'] }, /value\.deep\[0\].*zero/],
  ['half a surrogate pair', { deep: 'a\ud83d' }, /value\.deep.*surrogate/],
  ['a zero character in a key', { 'a\0b': 1 }, /value.*key.*zero/],
  ['a bigint', { n: 1n }, /value\.n.*bigint/],
  ['no number', [1, Number.NaN], /value\[1\].*finite/],
  ['a number without end', [Number.POSITIVE_INFINITY], /value\[0\].*finite/],
  ['an invalid date', new Date('no day'), /value.*date/],
  ['undefined in a list', [undefined], /value\[0\].*undefined/],
  ['itself', new Circle(), /value\.me.*itself/],
  ['what is too deep for anybody', nested(20_000), /JSON/],
];

describe.each(['in a transaction', 'on its own'])('A payload sent %s', (way) => {
  it('a payload arrives as it was sent, whatever JSON can hold', async () => {
    await using db = await createTestDatabase();
    const arrived = new Map<string, unknown>();
    const note = receptor(Anything, ({ orderId, value }) => void arrived.set(orderId, value));
    await using shop = service(db, { receptors: [note], transport: inProcessTransport() });
    await shop.start();
    const messages = survivors.map(([orderId, value]) => Anything({ orderId, value }));
    if (way === 'on its own') await shop.publish(messages);
    else {
      const tx = await db.connect();
      await tx.query('begin');
      await shop.publish(messages, { tx });
      await tx.query('commit');
    }
    await eventually(() => expect(arrived.size).toBe(survivors.length));
    for (const [name, value] of survivors) {
      expect(JSON.stringify(arrived.get(name)), name).toBe(JSON.stringify(inOrderOfJsonb(value)));
    }
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    expect(await deadLetters(db)).toEqual([]);
  });

  it('a payload that JSON or PostgreSQL cannot hold is refused with its path, and others are stored', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const good = (orderId: string) => Anything({ orderId, value: 1 });
    const tx = await db.connect();
    for (const [name, value, text] of refused) {
      await tx.query('begin');
      const options = way === 'on its own' ? {} : { tx };
      const outcomes = await Promise.allSettled([
        shop.publish(good(`before ${name}`), options),
        shop.publish([good('beside'), Anything({ orderId: 'bad', value })], options),
        shop.publish(good(`behind ${name}`), options),
      ]);
      await tx.query('commit');
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect((outcomes[1] as PromiseRejectedResult).reason, name).toMatchObject({
        code: 'INVALID_MESSAGE',
        message: expect.stringMatching(text),
      });
    }
    const { rows } = await db.pool.query(`select event_data->>'orderId' as id from wh_outbox order by 1`);
    const expected = refused.flatMap(([name]) => [`before ${name}`, `behind ${name}`]);
    expect((rows as { id: string }[]).map(({ id }) => id).sort()).toEqual(expected.sort());
  });
});

describe('A payload that arrives', () => {
  it('a message whose schema throws is retried: the message is not at fault', async () => {
    await using db = await createTestDatabase();
    let looks = 0;
    const Fragile = defineEvent('Fragile', {
      schema: {
        '~standard': {
          version: 1,
          vendor: 'test',
          types: undefined as { input: { orderId: string }; output: { orderId: string } } | undefined,
          validate: async (value) => {
            if (++looks < 3) throw new Error('the list of countries is not there');
            return { value: value as { orderId: string } };
          },
        },
      },
    });
    const handled: string[] = [];
    const note = receptor(
      Fragile,
      { retry: { firstDelaySeconds: 0.01 } },
      ({ orderId }) => void handled.push(orderId),
    );
    await arrive(db, 'Fragile', { orderId: 'a' });
    await using shop = service(db, { receptors: [note], transport: inProcessTransport() });
    await shop.start();
    await eventually(() => expect(handled).toEqual(['a']));
  });

  it('a message whose upcaster throws becomes a dead letter at once, and its stream goes on', async () => {
    await using db = await createTestDatabase();
    const Moved = defineEvent('Moved', {
      schema: z.object({ orderId: z.string(), step: z.number() }),
      stream: ({ orderId }) => orderId,
      version: 2,
      upcast: {
        1: () => {
          throw new Error('no address');
        },
      },
    });
    const steps: number[] = [];
    const note = receptor(Moved, ({ step }) => void steps.push(step));
    await arrive(db, 'Moved', { orderId: 'a', step: 1 }, { schemaVersion: 1 });
    await arrive(db, 'Moved', { orderId: 'a', step: 2 }, { schemaVersion: 2 });
    await using shop = service(db, { receptors: [note], transport: inProcessTransport() });
    await shop.start();
    await eventually(() => expect(steps).toEqual([2]));
    expect(await deadLetters(db)).toMatchObject([
      { event_type: 'Moved', attempts: 1, error: expect.stringMatching(/version 1 threw/) },
    ]);
  });
});

/** jsonb keeps the keys of an object by length and then by bytes. */
function inOrderOfJsonb(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrderOfJsonb);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort(
    (a, b) => Buffer.byteLength(a) - Buffer.byteLength(b) || Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  const text = keys.map(
    (key) =>
      `${JSON.stringify(key)}:${JSON.stringify(inOrderOfJsonb((value as Record<string, unknown>)[key]))}`,
  );
  return JSON.parse(`{${text.join(',')}}`);
}
