import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { Queryable } from '../../src/database/index.js';
import type { WhizbangOptions } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { libraries } from './support/libraries.js';
import { Orders } from './support/orders.js';
import { createShop } from './support/shop.js';

type Transaction = NonNullable<WhizbangOptions['transaction']>;

/** Waits until the session has ended, and keeps the event loop meanwhile, as a stalled process does. */
function stallUntilEnded(connectionString: string, pid: string): void {
  const program = `
    import pg from 'pg';
    const client = new pg.Client(process.argv[1]);
    await client.connect();
    while ((await client.query('select from pg_stat_activity where pid = $1', [process.argv[2]])).rowCount > 0);
    await client.end();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', program, connectionString, pid], {
    timeout: 20_000,
  });
}

/** Not postgres.js: when its session has ended unnoticed, its next statement ends the process (3.4.9, `nextWrite`). */
const { Drizzle, Knex, TypeORM } = libraries;

it.each([['the pool', undefined] as const, ...Object.entries({ Drizzle, Knex, TypeORM })])(
  'a receptor whose session PostgreSQL ended in a transaction of %s uses up no attempt',
  async (_, open) => {
    await using db = await createTestDatabase();
    // Shorter than the lease: with the lease lost, too, nobody would ask what the error was.
    await db.pool.query(`alter database ${db.name} set idle_in_transaction_session_timeout = '1s'`);
    const library = await open?.(db.connectionString);
    const orders = await Orders.of(db.pool, 1);
    let runs = 0;
    const work = async (tx: Queryable) => {
      if (++runs > 1) return;
      const { rows } = await tx.query('select pg_backend_pid()::text as pid');
      stallUntilEnded(db.connectionString, (rows[0] as { pid: string }).pid);
      await tx.query('select 1');
    };
    const shop = createShop(
      {
        connectionString: db.connectionString,
        leaseSeconds: 15,
        renewSeconds: 5,
        retry: { attempts: 1 },
        ...(library && { transaction: library.transaction as unknown as Transaction }),
      },
      { work },
    );
    await shop.start();
    await orders.place(1);
    await orders.expectFaultless();
    expect(runs).toBeGreaterThan(1);
    await shop.stop();
    await library?.close();
  },
);

it.each([
  ['0', 'the lease, where none is set', '2s'],
  ['1h', 'the lease, where a longer one is set', '2s'],
  ['1500ms', 'what is set, where that is shorter', '1500ms'],
])(
  'with idle_in_transaction_session_timeout at %s, a receptor may be idle for %s',
  async (set, _, expected) => {
    await using db = await createTestDatabase();
    await db.pool.query(`alter database ${db.name} set idle_in_transaction_session_timeout = '${set}'`);
    const library = await libraries.Drizzle?.(db.connectionString);
    for (const transaction of [undefined, library?.transaction as unknown as Transaction]) {
      const orders = await Orders.of(db.pool, 1);
      const limits: unknown[] = [];
      const work = async (tx: Queryable) =>
        limits.push(...(await tx.query(`show idle_in_transaction_session_timeout`)).rows);
      const shop = createShop({ connectionString: db.connectionString, transaction }, { work });
      await shop.start();
      await orders.place(1);
      await orders.expectFaultless();
      expect(limits).toEqual([{ idle_in_transaction_session_timeout: expected }]);
      await shop.stop();
      await db.pool.query('drop table effects');
    }
    await library?.close();
  },
);
