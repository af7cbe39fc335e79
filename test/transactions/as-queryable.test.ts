import { inspect } from 'node:util';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { asQueryable } from '../../src/transactions/index.js';
import { createTestDatabase } from '../support/database.js';
import { message, refusalOf, send } from './sending.js';

describe('Values that are not a transaction', () => {
  class Basket {
    password = 'hunter2';
    items = [];
  }

  it.each([
    ['undefined', undefined, 'tx is undefined, which is not a known kind of transaction'],
    ['null', null, 'tx is null, which'],
    ['a connection string', 'postgres://me:hunter2@db', 'tx is of type string, which'],
    ['a promise of one', Promise.resolve({}), 'a Promise (an await is missing)'],
    ['a function', function begin() {}, 'the function begin, which'],
    ['an object without a class', Object.create(null), 'class null, which'],
    ['something else', new Basket(), 'class Basket with the keys password, items, which'],
  ])(
    'a value that is not a transaction is refused by its kind and keys, without values: %s',
    (_, tx, words) => {
      const refusal = refusalOf(tx);
      expect(refusal).toMatchObject({ code: 'UNKNOWN_TRANSACTION', retryable: false });
      expect(refusal.message).toContain(words);
      expect(inspect(refusal, { depth: 5 })).not.toContain('hunter2');
    },
  );

  it('the refusal of an object names a dozen keys at most', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key${i}`, i]));
    expect(refusalOf(many).message).toMatch(/key11, …, which/);
  });

  it('an object with a query that could use several connections is refused as a pool', () => {
    const query = async () => ({ rows: [] });
    for (const sign of [{ totalCount: 0 }, { $pool: {} }, { begin: () => {} }, { transaction: () => {} }]) {
      expect(refusalOf({ query, ...sign }).message).toMatch(/tx is a pool/);
    }
  });
});

describe('Anything with query(text, values)', () => {
  it('an object with query(text, values) is accepted, with rows bare or in a result', async () => {
    const calls: unknown[] = [];
    const record = <T>(answer: T) => ({
      async query(text: string, values?: unknown[]) {
        calls.push([text, values]);
        return answer;
      },
    });
    expect(await asQueryable(record({ rows: [{ a: '1' }] })).query('x $1', ['y'])).toEqual({
      rows: [{ a: '1' }],
    });
    expect(await asQueryable(record([{ a: '1' }])).query('x')).toEqual({ rows: [{ a: '1' }] });
    expect(calls).toEqual([
      ['x $1', ['y']],
      ['x', undefined],
    ]);
  });
});

describe('A client of pg', () => {
  it('a client of pg whose begin is still on its way is in a transaction', async () => {
    await using db = await createTestDatabase();
    const client = await db.connect();
    const begun = client.query('begin');
    await Promise.all([begun, send(client, message())]);
    await client.query('rollback');
    expect((await db.pool.query('select from wh_outbox')).rowCount).toBe(0);
  });

  it('a client of pg that is not connected yet is accepted', () => {
    expect(() => asQueryable(new pg.Client())).not.toThrow();
  });
});
