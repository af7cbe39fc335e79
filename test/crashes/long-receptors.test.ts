import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/database/index.js';
import type { WhizbangOptions } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { libraries } from './support/libraries.js';
import { Orders } from './support/orders.js';
import { createShop } from './support/shop.js';

type Transaction = NonNullable<WhizbangOptions['transaction']>;

const leaseSeconds = 2;
const workSeconds = 2.5 * leaseSeconds;

/** One stream computes, or waits for somebody outside; another waits for PostgreSQL. */
const work = async (tx: Queryable, { orderId }: { orderId: string }) =>
  orderId === 'order-0' ? pause(workSeconds * 1000) : tx.query(`select pg_sleep(${workSeconds})::text`);

const pool = ['the pool', undefined] as const;

describe.concurrent('A receptor that works for many leases', () => {
  it.each([pool, ...Object.entries(libraries)])(
    'a receptor that works longer than two leases in a transaction of %s is not ended',
    async (_, open) => {
      await using db = await createTestDatabase();
      const library = await open?.(db.connectionString);
      const orders = await Orders.of(db.pool, 2);
      const runs: number[] = [];
      const shop = createShop(
        {
          connectionString: db.connectionString,
          leaseSeconds,
          retry: { attempts: 1 },
          ...(library && { transaction: library.transaction as unknown as Transaction }),
        },
        { work, onRun: (step) => runs.push(step) },
      );
      await shop.start();
      await orders.place(1);
      await orders.expectFaultless();
      expect(runs).toEqual([1, 1]);
      await shop.stop();
      await library?.close();
    },
  );
});
