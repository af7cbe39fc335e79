import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';
import { createShop, stockTable, takeFromStock } from './support/shop.js';

describe.concurrent('A process that stands still while its receptor has locked a row that others need', () => {
  it.each(['handled', 'settled'])(
    'a process stopped at the step "%s" with a row locked does not hold up the others',
    async (step) => {
      await using db = await createTestDatabase();
      const { connectionString } = db;
      await db.pool.query(stockTable);
      const orders = await Orders.of(db.pool, 2);
      await using stalled = await startProcess({
        connectionString,
        name: 'stalled',
        concurrency: 1,
        takesFromStock: true,
        accident: { step, nth: 1, signal: 'SIGSTOP' },
      });
      await orders.place(2);
      await stalled.untilStopped();
      await using other = createShop({ connectionString }, { name: 'other', work: takeFromStock });
      await other.start();
      await orders.expectFaultless(); // while it is stopped
      expect(stalled.hasEnded).toBe(false);
      expect((await db.pool.query('select left_over from stock')).rows).toEqual([{ left_over: 96 }]);
    },
  );
});
