// A store that was dumped by pg_dump, and restored by pg_restore into a cluster of its own: its perspectives go on. Where
// there is no pg_dump for the server, test/perspectives/moved-stores.test.ts does the same by hand.
import { describe, expect, it } from 'vitest';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { canDump, restoredDump } from '../support/dumps.js';
import { eventually } from '../support/eventually.js';
import { faultless, judge, makeTick } from '../support/ticks.js';
import { holdsIn, retryNow } from './support/holds.js';
import { orders, revenue, rowsOf } from './support/orders.js';
import { fragileOrders } from './support/poison.js';

const ids = Array.from({ length: 20 }, (_, i) => `order ${i}`);

describe.skipIf(!(await canDump()))('A store restored from a dump', () => {
  it('perspectives of a dump that is restored elsewhere go on, without loss and without doubling', async () => {
    await using db = await createTestDatabase();
    const cure = { isCured: false };
    const perspectives = [orders, revenue, fragileOrders(cure)];
    await using before = service(db, { perspectives });
    await before.start();
    await before.events.append(ids.map((id) => placed(id)));
    await before.events.append([...ids.slice(0, 5).map((id) => paid(id)), paid('order 0', 13)]);
    await eventually(async () => {
      expect(await rowsOf(db, 'revenue')).toMatchObject([{ data: { orders: 6 } }]);
      expect(await holdsIn(db)).toHaveLength(1);
    });
    await before.stop();
    // These are in the dump, and in no model; some of them in no tick either.
    await using writer = service(db);
    await writer.events.append(ids.slice(5, 10).map((id) => paid(id)));
    await makeTick(db.pool);
    await writer.events.append(ids.slice(10, 15).map((id) => paid(id)));
    await using there = await restoredDump(db);
    cure.isCured = true;
    await retryNow(there);
    await using after = service(there, { perspectives });
    await after.events.append(ids.slice(15).map((id) => paid(id)));
    await after.start();
    await eventually(async () => {
      const models = await rowsOf<{ status: string }>(there, 'orders');
      expect(models.map(({ status }) => status)).toEqual(ids.map(() => 'paid'));
      expect(await rowsOf(there, 'revenue')).toMatchObject([{ version: '21', data: { orders: 21 } }]);
      const { rows } = await there.pool.query(`select data from fragile where data -> 'paid' = '2'`);
      expect(rows).toEqual([{ data: { paid: 2, sum: 113 } }]);
      expect(await holdsIn(there)).toEqual([]);
    });
    expect(await judge(there)).toMatchObject(faultless);
  });
});
