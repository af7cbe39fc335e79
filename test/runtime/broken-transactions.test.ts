import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

const once = { attempts: 1 };
const insert = 'insert into effects values (1)';

type Query = (text: string, values?: unknown[]) => Promise<unknown>;

async function effectsIn(db: TestDatabase): Promise<number> {
  return (await db.pool.query('select 1 from effects')).rows.length;
}

/** Two messages of one stream; the receptor of the first does this. Resolves when the second was handled. */
async function runFirst(db: TestDatabase, first: (query: Query) => unknown) {
  await db.pool.query('create table effects (n int unique deferrable initially deferred)');
  const steps: number[] = [];
  const onPlaced = receptor(OrderPlaced, { retry: once }, async ({ step }, { tx }) => {
    steps.push(step);
    // oxlint-disable-next-line typescript/unbound-method -- it may be taken off
    const { query } = tx;
    if (step === 1) await first(query);
  });
  for (const step of [1, 2]) await arrive(db, 'OrderPlaced', { orderId: 'a', step });
  await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
  await shop.start();
  await eventually(() => expect(steps).toEqual([1, 2]));
  await shop.stop();
  return { effects: await effectsIn(db), letters: await deadLetters(db) };
}

describe('A receptor that ends its own transaction', () => {
  it.each(['commit', 'rollback', ' COMMIT AND CHAIN', 'end', 'abort', 'begin', '-- done\ncommit'])(
    'a receptor that says "%s" in its transaction fails, and what it wrote is rolled back',
    async (end) => {
      await using db = await createTestDatabase();
      const { effects, letters } = await runFirst(db, async (query) => {
        await query(insert);
        await query(end);
      });
      expect(letters).toMatchObject([{ error: expect.stringContaining('transaction') }]);
      expect(effects).toBe(0);
    },
  );

  it.each(['select 1; rollback', 'select 1; commit', 'select 1; rollback; begin'])(
    'a receptor that hides "%s" in a statement fails, though it catches the refusal',
    async (end) => {
      await using db = await createTestDatabase();
      const { letters } = await runFirst(db, async (query) => {
        await query(insert);
        await query(end).catch(() => {});
      });
      expect(letters).toMatchObject([{ error: expect.stringContaining('has ended its own transaction') }]);
    },
  );

  it('a receptor may roll back to a savepoint of its own', async () => {
    await using db = await createTestDatabase();
    const { effects, letters } = await runFirst(db, async (query) => {
      await query('savepoint attempt');
      await query('select 1 / 0').catch(() => {});
      await query('rollback to savepoint attempt');
      await query(insert);
      await query('release attempt');
    });
    expect(letters).toEqual([]);
    expect(effects).toBe(1);
  });
});

describe('A receptor with a statement that fails', () => {
  it('a receptor that catches the error of a statement fails with that error', async () => {
    await using db = await createTestDatabase();
    const { effects, letters } = await runFirst(db, async (query) => {
      await query(insert);
      await query('select 1 / 0').catch(() => {});
    });
    expect(letters).toMatchObject([{ error: expect.stringMatching(/caught.*division by zero/) }]);
    expect(effects).toBe(0);
  });

  it('a receptor whose statement fails without being awaited fails, and the process lives', async () => {
    await using db = await createTestDatabase();
    const { effects, letters } = await runFirst(db, async (query) => {
      await query(insert);
      void query('select 1 / 0');
    });
    expect(letters).toMatchObject([{ error: expect.stringContaining('division by zero') }]);
    expect(effects).toBe(0);
  });

  it('a receptor whose transaction fails at the commit fails', async () => {
    await using db = await createTestDatabase();
    const { effects, letters } = await runFirst(db, async (query) => {
      await query(insert);
      await query(insert);
    });
    expect(letters).toMatchObject([{ error: expect.stringContaining('duplicate key') }]);
    expect(effects).toBe(0);
  });

  it('a statement that fails after the receptor has returned makes its message fail', async () => {
    await using db = await createTestDatabase();
    const { effects, letters } = await runFirst(db, async (query) => {
      await query(insert);
      // Whenever the transaction is still open: one of them runs between the completion and the commit.
      const timer = setInterval(() => {
        query('select 1 / 0').catch((error: Error) => {
          if (!error.message.includes('division') && !error.message.includes('aborted')) clearInterval(timer);
        });
      }, 0);
    });
    expect(letters).toMatchObject([{ error: expect.stringContaining('division by zero') }]);
    expect(effects).toBe(0);
  });
});

describe('Invoking a receptor', () => {
  const Ask = defineCommand('Ask', { schema: z.object({}), to: 'shop' });

  it('invoke rejects when the receptor catches the error of a statement: nothing was committed', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (n int)');
    const onAsk = receptor(Ask, async (_, { tx }) => {
      await tx.query(insert);
      await tx.query('select 1 / 0').catch(() => {});
    });
    await using shop = service(db, { receptors: [onAsk] });
    await expect(shop.invoke(Ask({}))).rejects.toMatchObject({ code: 'TRANSACTION_ABORTED' });
    expect(await effectsIn(db)).toBe(0);
  });

  it('invoke rejects when the receptor rolls back by itself', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (n int)');
    const onAsk = receptor(Ask, async (_, { tx }) => {
      await tx.query(insert);
      await tx.query('rollback').catch(() => {});
    });
    await using shop = service(db, { receptors: [onAsk] });
    await expect(shop.invoke(Ask({}))).rejects.toThrow('transaction');
    expect(await effectsIn(db)).toBe(0);
  });
});
