// A backup of a system at work, taken by pg_dump and restored elsewhere: the work goes on there, in order, and nothing is lost. What the old
// system did after the backup is done again: that is told apart here, too.
import { describe, expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { PlaceOrder, service } from '../runtime/service.js';
import type { TestDatabase } from '../support/database.js';
import { createTestDatabase } from '../support/database.js';
import { canDump, restoredDump } from '../support/dumps.js';
import { eventually } from '../support/eventually.js';

const orders = Array.from({ length: 20 }, (_, i) => `order ${i}`);
const steps = (from: number, to: number) =>
  orders.flatMap((orderId) =>
    Array.from({ length: to - from }, (_, i) => PlaceOrder({ orderId, step: from + i })),
  );

/** Notes each step in its transaction, and in `effects`, as a call to somebody else would. At step 5 it waits. The last order fails for ever. */
function shopOf(db: TestDatabase, effects: string[], mayGoOn: Promise<void>) {
  // Alone: what shared a transaction with a step that waits would not be in the backup.
  const options = { alone: true, retry: { attempts: 1 } };
  const work = receptor(PlaceOrder, options, async ({ orderId, step }, { tx }) => {
    effects.push(`${orderId} ${step}`);
    if (orderId === 'order 19' && step === 0) throw new Error('no paper');
    await tx.query('insert into done (order_id, step) values ($1, $2)', [orderId, step]);
    if (step === 5) await mayGoOn;
  });
  return service(db, { receptors: [work], leaseSeconds: 2, renewSeconds: 1, takeoverSeconds: 0.1 });
}

const doneIn = async (db: TestDatabase) =>
  (await db.pool.query<{ order_id: string; step: number }>('select order_id, step from done order by n'))
    .rows;

describe.skipIf(!(await canDump()))('A backup that is restored', () => {
  it('a backup of a system at work goes on where it is restored, in order, and nothing is lost', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table done (n serial primary key, order_id text, step int)');
    const before: string[] = [];
    let goOn = () => {};
    const backedUp = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const old = [shopOf(db, before, backedUp), shopOf(db, before, backedUp)];
    await Promise.all(old.map((each) => each.start()));
    await old[0]?.send(steps(0, 10));
    // Some are done, some run, some wait: then the backup is taken.
    await eventually(() => expect(before.filter((each) => each.endsWith(' 5')).length).toBeGreaterThan(5));
    await using there = await restoredDump(db);
    const inBackup = await doneIn(there);
    expect(inBackup.length).toBeGreaterThan(20);
    goOn();
    await eventually(async () => expect(await doneIn(db)).toHaveLength(199));
    await Promise.all(old.map((each) => each.stop()));

    const after: string[] = [];
    const late = [shopOf(there, after, backedUp), shopOf(there, after, backedUp)];
    try {
      await late[0]?.send(steps(10, 12));
      await Promise.all(late.map((each) => each.start()));
      await eventually(async () => expect(await doneIn(there)).toHaveLength(239), 60_000);
      const done = await doneIn(there);
      for (const orderId of orders) {
        const first = orderId === 'order 19' ? 1 : 0;
        const expected = Array.from({ length: 12 - first }, (_, i) => first + i);
        const got = done.filter((each) => each.order_id === orderId).map(({ step }) => step);
        expect([orderId, got]).toEqual([orderId, expected]);
      }
      // It is a dead letter there too, whether it was one in the backup or not.
      const letters = await late[0]?.deadLetters.list();
      expect(letters).toMatchObject([{ payload: { orderId: 'order 19', step: 0 } }]);
      // What the old system did after the backup was done again: effects outside the database are doubled, and only those.
      const known = new Set(inBackup.map(({ order_id: orderId, step }) => `${orderId} ${step}`));
      expect(after.filter((each) => known.has(each))).toEqual([]);
      const again = new Set(after.filter((each) => before.includes(each)));
      expect(again.size).toBeGreaterThan(0);
      const { rows } = await there.pool.query('select count(*)::int as waiting from wh_inbox');
      expect(rows).toEqual([{ waiting: 0 }]);
    } finally {
      await Promise.all(late.map((each) => each.stop()));
    }
  });
});
