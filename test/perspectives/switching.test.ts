import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { openSession } from '../support/sessions.js';
import { buildsOf, orders2 } from './support/builds.js';
import { announced, announcing, logAnnouncements } from './support/messages.js';
import { orders, rowsOf } from './support/orders.js';

describe('a raised version of a perspective', () => {
  it('two versions of the code fill their own tables, and the view moves to the higher one', async () => {
    await using db = await createTestDatabase();
    await using old = service(db, { perspectives: [orders] });
    await old.start();
    for (let i = 0; i < 20; i++) await old.events.append(placed(`o${i}`, i));
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(20));
    await using raised = service(db, { perspectives: [orders2] });
    await raised.start();
    await eventually(async () =>
      expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1': 'retired', 'orders@2': 'live' }),
    );
    await old.events.append([paid('o3'), placed('o20', 20)]);
    const id = streamIdOf('o3');
    await eventually(async () => {
      expect(await rowsOf(db, 'orders_v1')).toHaveLength(21);
      expect(await rowsOf(db, 'orders')).toHaveLength(21);
      const both = await db.pool.query(
        'select n.status, n.euros, o.status as before from orders n join orders_v1 o using (id) where id = $1',
        [id],
      );
      expect(both.rows).toEqual([{ status: 'done', euros: '0.03', before: 'paid' }]);
    });
    const back = await old.perspectives.switch(orders, { build: 'orders@1' });
    expect(back).toMatchObject({ build: 'orders@1', state: 'live' });
    expect((await rowsOf(db, 'orders')).find((row) => row.id === id)).toMatchObject({ status: 'paid' });
  });

  it('the build of a lower version that comes later stays beside, and is kept up', async () => {
    await using db = await createTestDatabase();
    await using raised = service(db, { perspectives: [orders2] });
    await raised.start();
    await raised.events.append(placed('a', 1));
    await eventually(async () => expect(await buildsOf(db, 'orders')).toEqual({ 'orders@2': 'live' }));
    await using old = service(db, { perspectives: [orders] });
    await old.start();
    await raised.events.append(placed('b', 2));
    await eventually(async () => expect(await rowsOf(db, 'orders_v1')).toHaveLength(2));
    expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1': 'beside', 'orders@2': 'live' });
  });

  it('every change is announced once across a switch, with events going on', async () => {
    await using db = await createTestDatabase();
    await logAnnouncements(db);
    await using old = service(db, { perspectives: [announcing(1)] });
    await using raised = service(db, { perspectives: [announcing(2)] });
    await old.start();
    const expected: string[] = [];
    const isDone = { now: false };
    const write = async (first: number) => {
      for (let i = first; !isDone.now; i += 2) {
        await old.events.append([placed(`o${i}`, i), paid(`o${i}`, i)]);
        expected.push(`${i} false`, `${i} true`);
      }
    };
    const writers = [write(0), write(1)];
    await eventually(async () => expect((await announced(db)).length).toBeGreaterThan(50));
    await raised.start();
    await eventually(async () =>
      expect(await buildsOf(db, 'seen')).toEqual({ 'seen@1': 'retired', 'seen@2': 'live' }),
    );
    await raised.perspectives.rebuild(announcing(2));
    await eventually(async () => expect((await announced(db)).some(({ by }) => by === 'v2')).toBe(true));
    isDone.now = true;
    await Promise.all(writers);
    await eventually(async () =>
      expect((await announced(db)).length).toBeGreaterThanOrEqual(expected.length),
    );
    const all = await announced(db);
    expect(all.map(({ what }) => what).toSorted()).toEqual(expected.toSorted());
    expect(new Set(all.map(({ by }) => by))).toEqual(new Set(['v1', 'v2']));
  });

  it('a version that starts when the one before is gone announces what that one had not read', async () => {
    await using db = await createTestDatabase();
    await logAnnouncements(db);
    await using old = service(db, { perspectives: [announcing(1)] });
    await old.start();
    await old.events.append(placed('a', 1));
    await eventually(async () => expect(await announced(db)).toEqual([{ what: '1 false', by: 'v1' }]));
    await old.stop();
    await using writer = service(db);
    await writer.events.append([paid('a'), placed('b', 2)]);
    await using raised = service(db, { perspectives: [announcing(2)] });
    await raised.start();
    await eventually(async () =>
      expect(await announced(db)).toEqual([
        { what: '1 false', by: 'v1' },
        { what: '1 true', by: 'v2' },
        { what: '2 false', by: 'v2' },
      ]),
    );
  });
});

describe('the switch', () => {
  it('a switch waits for a long query of the view, and holds up no other query for long', async () => {
    await using db = await createTestDatabase();
    await using old = service(db, { perspectives: [orders] });
    await old.start();
    await old.events.append(placed('a', 1));
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(1));
    const { client: reader } = await openSession(db);
    await reader.query('begin; select * from orders');
    await using raised = service(db, { perspectives: [orders2] });
    await raised.start();
    await eventually(async () => {
      const { rows } = await db.pool.query(
        `select switch_after > '-infinity' as was_tried, state from wh_perspectives where name = 'orders@2'`,
      );
      expect(rows).toEqual([{ was_tried: true, state: 'beside' }]);
    });
    let longest = 0;
    for (let i = 0; i < 60; i++) {
      const before = performance.now();
      await db.pool.query('select count(*) from orders');
      longest = Math.max(longest, performance.now() - before);
      await pause(10);
    }
    // 200 ms and what the busy machine adds.
    expect(longest).toBeLessThan(1_000);
    expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1': 'live', 'orders@2': 'beside' });
    await reader.query('commit');
    await eventually(async () =>
      expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1': 'retired', 'orders@2': 'live' }),
    );
  });

  it('a view that depends on the view keeps a build with other columns beside, and rights stay', async () => {
    await using db = await createTestDatabase();
    await using old = service(db, { perspectives: [orders] });
    await old.start();
    await old.events.append(placed('a', 1));
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(1));
    await db.pool.query(
      'create view rich as select id from orders where cents > 0; grant select on orders to public',
    );
    await using raised = service(db, { perspectives: [orders2] });
    await raised.start();
    await eventually(async () => {
      const { rows } = await db.pool.query(
        `select switch_after > now() + interval '10 seconds' as is_later from wh_perspectives where name = 'orders@2'`,
      );
      expect(rows).toEqual([{ is_later: true }]);
    });
    expect(await rowsOf(db, 'rich')).toHaveLength(1);
    await db.pool.query('drop view rich');
    await raised.perspectives.switch(orders2);
    const { rows } = await db.pool.query(
      `select has_table_privilege('public', 'orders', 'select') as is_open`,
    );
    expect(rows).toEqual([{ is_open: true }]);
  });
});
