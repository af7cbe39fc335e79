import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { receptor } from '../../../src/index.js';
import { createTestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { service } from '../service.js';
import { Judge } from './judge.js';
import { Import, InOrder, numbers, Quick, slow } from './service.js';

describe('A receptor with a concurrency', () => {
  it('a receptor with a concurrency never handles more at once, and all in the end', async () => {
    await using db = await createTestDatabase();
    const judge = new Judge();
    const done: number[] = [];
    await using shop = service(db, { receptors: [slow(Import, judge, { concurrency: 2 }, done)] });
    await shop.start();
    await shop.send(numbers(12).map((n) => Import({ n })));
    await eventually(() => expect([...done].sort((a, b) => a - b)).toEqual(numbers(12)));
    expect(judge.most()).toBe(2);
  });

  it('a message over a limit has no lease, and another type is handled meanwhile', async () => {
    await using db = await createTestDatabase();
    const judge = new Judge();
    const quick: number[] = [];
    const onQuick = receptor(Quick, async ({ n }) => void quick.push(n));
    const onImport = slow(Import, judge, { concurrency: 2 });
    await using shop = service(db, { receptors: [onImport, onQuick], concurrency: 4 });
    await shop.start();
    await shop.send(numbers(24).map((n) => Import({ n, ms: 30_000 })));
    await eventually(() => expect(judge.running()).toBe(2));
    await shop.send(Quick({ n: 1 }));
    await eventually(() => expect(quick).toEqual([1]));
    await eventually(async () => {
      const { rows } = await db.pool.query(
        `select count(*)::int as messages, count(*) filter (where lease_expiry > now())::int as leased, max(attempts) as attempts
         from wh_inbox`,
      );
      expect(rows).toEqual([{ messages: 24, leased: 2, attempts: 0 }]);
    });
    await shop.stop({ seconds: 0 });
  });

  it('a stream whose messages have a limit keeps its order', async () => {
    await using db = await createTestDatabase();
    const judge = new Judge();
    const done: number[] = [];
    const onInOrder = slow(InOrder, judge, { concurrency: 3 }, done);
    await using shop = service(db, { receptors: [onInOrder] });
    await shop.start();
    for (const n of numbers(10)) await shop.send(InOrder({ n }));
    await eventually(() => expect(done).toEqual(numbers(10)));
  });

  it('a message that fails under a limit is retried, and its place is free meanwhile', async () => {
    await using db = await createTestDatabase();
    const done: number[] = [];
    const attempts: number[] = [];
    const retry = { firstDelaySeconds: 0.2, jitter: 0 };
    const onImport = receptor(Import, { concurrency: 1, retry }, async ({ n }, { attempt }) => {
      attempts.push(attempt);
      if (n === 0 && attempt === 1) throw new Error('not yet');
      done.push(n);
    });
    await using shop = service(db, { receptors: [onImport] });
    await shop.start();
    await shop.send([0, 1].map((n) => Import({ n })));
    await eventually(() => expect(done).toEqual([1, 0]));
    expect(attempts).toEqual([1, 1, 2]);
  });
});

describe('A receptor with a rate', () => {
  it('a receptor with a rate never begins more within its time, and all in the end', async () => {
    await using db = await createTestDatabase();
    const judge = new Judge();
    const done: number[] = [];
    const rate = { count: 3, perSeconds: 2 };
    await using shop = service(db, { receptors: [slow(Import, judge, { rate }, done)] });
    await shop.start();
    await shop.send(numbers(8).map((n) => Import({ n, ms: 1 })));
    await eventually(() => expect(done).toHaveLength(8));
    // Half of its time: what is let in may take a moment until its handler begins.
    expect(judge.mostWithin(1000)).toBe(3);
  });
});

describe('A limit with a key', () => {
  it('a limit with a key holds for each key, and one key does not delay another', async () => {
    await using db = await createTestDatabase();
    const judge = new Judge();
    const done: number[] = [];
    const key = ({ tenant }: { tenant: string }) => tenant;
    await using shop = service(db, { receptors: [slow(Import, judge, { concurrency: 1, key }, done)] });
    await shop.start();
    await shop.send(numbers(20).map((n) => Import({ tenant: 'loud', n, ms: 60_000 })));
    await eventually(() => expect(judge.running('loud')).toBe(1));
    await shop.send(numbers(5).map((n) => Import({ tenant: 'still', n })));
    await eventually(() => expect([...done].sort()).toEqual(numbers(5)));
    expect([judge.most('loud'), judge.most('still')]).toEqual([1, 1]);
    const { rows } = await db.pool.query(
      `select waits_for, count(*)::int from wh_active_streams where waits_for is not null group by 1`,
    );
    expect(rows).toEqual([{ waits_for: 'Import\u001floud', count: 19 }]);
    await shop.stop({ seconds: 0 });
  });

  it('all messages of many keys are handled, each key one at a time', async () => {
    await using db = await createTestDatabase();
    const judge = new Judge();
    const done: number[] = [];
    const key = ({ tenant }: { tenant: string }) => tenant;
    await using shop = service(db, { receptors: [slow(Import, judge, { concurrency: 1, key }, done)] });
    await shop.start();
    await shop.send(numbers(100).map((n) => Import({ tenant: `t${n % 10}`, n, ms: 2 })));
    await eventually(() => expect(done).toHaveLength(100));
    expect(numbers(10).map((n) => judge.most(`t${n}`))).toEqual(numbers(10).map(() => 1));
  });

  it.each([
    ['is no text', undefined, 'key has returned undefined'],
    ['has a NUL character', 'a\0b', 'key has returned a text with a NUL character'],
    ['is too long', randomBytes(2000).toString('base64'), 'key has returned more than 1000 bytes'],
  ])('a message whose key %s fails as by its handler, and others are handled', async (_, bad, fact) => {
    await using db = await createTestDatabase();
    const done: number[] = [];
    const key = ({ n }: { n: number }) => (n < 3 ? (bad as string) : 'good');
    const limit = { concurrency: 1, across: 'instances' as const, key, retry: { attempts: 1 } };
    const onImport = receptor(Import, limit, async ({ n }) => void done.push(n));
    await using shop = service(db, { receptors: [onImport] });
    await shop.start();
    await shop.send(numbers(5).map((n) => Import({ n })));
    await eventually(async () => {
      const { rows } = await db.pool.query('select error from wh_dead_letters');
      expect(rows.map(({ error }) => error.includes(fact))).toEqual([true, true, true]);
      expect(done.sort()).toEqual([3, 4]);
    });
  });
});
