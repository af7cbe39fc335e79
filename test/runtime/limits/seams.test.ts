// Limits where they meet the rest: giving up, batches, cancelling.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { batchReceptor, defineCommand, receptor } from '../../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { deadLetters } from '../arrivals.js';
import { service } from '../service.js';
import { Judge } from './judge.js';
import { Import, InOrder, numbers, slow } from './service.js';

const isEmpty = (db: TestDatabase) =>
  eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));

/** How many messages of the inbox nobody holds. */
const waiting = async (db: TestDatabase) =>
  (await db.pool.query('select 1 from wh_inbox where lease_expiry is null or lease_expiry < now()')).rowCount;

/** Handled in batches, in the stream of InOrder. */
const Counted = defineCommand('Counted', {
  schema: z.object({ n: z.number() }),
  stream: () => 'stream-',
});

describe('A limit and giving up', () => {
  it.each([
    { across: undefined, key: undefined },
    { across: 'instances' as const, key: undefined },
    { across: 'instances' as const, key: ({ tenant }: { tenant: string }) => tenant },
  ])(
    'a message given up under a limit calls onGivenUp once, and leaves its place free: $across $key',
    async ({ across, key }) => {
      await using db = await createTestDatabase();
      await db.pool.query('create table given_up (n int)');
      const done: number[] = [];
      const judge = new Judge();
      const onImport = receptor(
        Import,
        {
          concurrency: 1,
          across,
          key,
          retry: { attempts: 2, firstDelaySeconds: 0.05 },
          onGivenUp: async ({ n }, { tx }) => {
            await tx.query('insert into given_up values ($1)', [n]);
          },
        },
        ({ n }) =>
          judge.watch('', async () => {
            if (n < 5) throw new Error('never');
            done.push(n);
          }),
      );
      await using one = service(db, { receptors: [onImport] });
      await using two = service(db, { receptors: [onImport] });
      await Promise.all([one.start(), two.start()]);
      await one.send(numbers(8).map((n) => Import({ n, tenant: 'a' })));
      await eventually(() => expect([...done].sort()).toEqual([5, 6, 7]));
      await isEmpty(db);
      const { rows } = await db.pool.query('select n from given_up order by n');
      expect(rows).toEqual(numbers(5).map((n) => ({ n })));
      expect((await deadLetters(db)).map(({ attempts }) => attempts)).toEqual([2, 2, 2, 2, 2]);
      if (across !== undefined) expect(judge.most()).toBe(1);
    },
  );

  it('a message given up at its last attempt after a timeout frees its place under a limit', async () => {
    await using db = await createTestDatabase();
    const done: number[] = [];
    const givenUp: number[] = [];
    const onImport = receptor(
      Import,
      {
        concurrency: 1,
        across: 'instances',
        timeoutSeconds: 0.2,
        retry: { attempts: 1 },
        onGivenUp: ({ n }) => void givenUp.push(n),
      },
      async ({ n }, { signal }) => {
        if (n === 0)
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        done.push(n);
      },
    );
    await using shop = service(db, { receptors: [onImport] });
    await shop.start();
    await shop.send([0, 1, 2].map((n) => Import({ n })));
    await eventually(() => expect([...done].sort()).toEqual([1, 2]));
    await isEmpty(db);
    expect(givenUp).toEqual([0]);
  });
});

describe('A limit and batches', () => {
  it('a stream with messages of a batch and of a limit keeps its order', async () => {
    await using db = await createTestDatabase();
    const done: number[] = [];
    const onInOrder = slow(InOrder, new Judge(), { concurrency: 1 }, done);
    const onCounted = batchReceptor(Counted, { size: 10 }, (payloads) => {
      done.push(...payloads.map(({ n }) => n));
    });
    await using shop = service(db, { receptors: [onInOrder, onCounted] });
    await shop.start();
    for (const n of numbers(12)) await shop.send(n % 4 === 0 ? InOrder({ n, ms: 10 }) : Counted({ n }));
    await eventually(() => expect(done).toEqual(numbers(12)));
    await isEmpty(db);
  });

  it('a batch receptor refuses a limit by name', () => {
    const options = { size: 10, concurrency: 2 };
    expect(() => batchReceptor(Counted, options, () => {})).toThrow('concurrency');
  });
});

describe('A limit and cancelling', () => {
  it('a message that waits at a limit can be cancelled, and the others are handled', async () => {
    await using db = await createTestDatabase();
    const done: number[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const begun: number[] = [];
    const onImport = receptor(Import, { concurrency: 1, across: 'instances' }, async ({ n }) => {
      begun.push(n);
      if (begun.length === 1) await released;
      done.push(n);
    });
    await using one = service(db, { receptors: [onImport] });
    await using two = service(db, { receptors: [onImport] });
    await Promise.all([one.start(), two.start()]);
    const ids = await one.send(numbers(6).map((n) => Import({ n })));
    await eventually(async () => {
      expect(begun).toHaveLength(1);
      expect(await waiting(db)).toBe(5);
    });
    const [running = 0] = begun;
    const [first = 0, second = 0] = numbers(6).filter((n) => n !== running);
    // For a moment the other instance may hold one, to ask whether it may begin.
    await eventually(async () => expect(await one.cancel(ids[first] as never)).toBe(true));
    await eventually(async () => expect(await two.cancel(ids[second] as never)).toBe(true));
    expect(await one.cancel(ids[running] as never)).toBe(false);
    expect(await two.cancel(ids[first] as never)).toBe(false);
    release();
    const expected = numbers(6).filter((n) => n !== first && n !== second);
    await eventually(() => expect([...done].sort()).toEqual(expected));
    await isEmpty(db);
    expect([...begun].sort()).toEqual(expected);
  });

  it('a message that waits at a limit and was cancelled leaves its stream free', async () => {
    await using db = await createTestDatabase();
    const done: number[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const onInOrder = receptor(InOrder, { concurrency: 1, across: 'instances' }, () => released);
    const onCounted = receptor(Counted, ({ n }) => void done.push(n));
    await using shop = service(db, { receptors: [onInOrder, onCounted] });
    await shop.start();
    await shop.send(InOrder({ n: 0, tenant: 'other' }));
    await eventually(async () => expect(await waiting(db)).toBe(0));
    const blocked = await shop.send(InOrder({ n: 1 }));
    await shop.send(Counted({ n: 2 }));
    await eventually(async () => expect(await waiting(db)).toBe(2));
    expect(done).toEqual([]);
    expect(await shop.cancel(blocked)).toBe(true);
    await eventually(() => expect(done).toEqual([2]));
    release();
    await isEmpty(db);
  });
});

describe('A limit that cannot be asked', () => {
  it('a service that may not ask its limit says so once, asks with pauses, and goes on later', async () => {
    await using db = await createTestDatabase();
    const renamed = (from: string, to: string) =>
      db.pool.query(
        `alter function ${from}(uuid, uuid, text, text, text, int, int, double precision) rename to ${to}`,
      );
    await renamed('wh_enter_limit', 'wh_gone');
    const said: object[] = [];
    const noop = () => {};
    const error = (facts: object) => void said.push(facts);
    const debug = (_: object, text: string) => void (text.includes('limit') && asked++);
    let asked = 0;
    const done: number[] = [];
    const onImport = receptor(Import, { concurrency: 1, across: 'instances' }, ({ n }) => void done.push(n));
    await using shop = service(db, {
      receptors: [onImport],
      logger: { debug, info: noop, warn: noop, error },
    });
    await shop.start();
    await shop.send(numbers(5).map((n) => Import({ n })));
    await eventually(() => expect(asked).toBeGreaterThan(0));
    expect(said).toMatchObject([{ receptor: 'Import', error: expect.stringContaining('wh_enter_limit') }]);
    await renamed('wh_gone', 'wh_enter_limit');
    await eventually(() => expect([...done].sort()).toEqual(numbers(5)));
    expect(asked).toBeLessThan(100);
    expect(said).toHaveLength(1);
  });
});
