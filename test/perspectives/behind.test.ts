// What could hold a perspective up, or be passed by in silence.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { keyedPerspective, perspective } from '../../src/index.js';
import { OrderCancelled, OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { pgbouncerIsInstalled, startPgBouncer } from '../support/pgbouncer.js';
import { append, makeTick } from '../support/ticks.js';
import { instance } from '../support/work-fixtures.js';
import { orders, rowsOf } from './support/orders.js';

const counted = keyedPerspective('counted', {
  model: z.object({ count: z.number() }),
  initial: { count: 0 },
}).on(
  OrderPlaced,
  () => 'all',
  ({ count }) => ({ count: count + 1 }),
);

/** Appends so many events, each to a stream of its own. */
async function fill(db: TestDatabase, count: number, type = 'OrderPlaced'): Promise<void> {
  await db.pool.query(
    `insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data)
     select gen_random_uuid(), gen_random_uuid(), 1, $2, 'Order', '{"orderId": "o", "cents": 1}' from generate_series(1, $1::int)`,
    [count, type],
  );
}

/** The perspective is there and has caught up, and nobody works on it. */
async function register(db: TestDatabase, given: typeof counted | typeof orders): Promise<void> {
  await using shop = service(db, { perspectives: [given] });
  await shop.start();
  await eventually(async () =>
    expect((await db.pool.query("select from wh_perspectives where state = 'live'")).rows).toHaveLength(1),
  );
}

describe('A perspective that is behind', () => {
  it('a perspective that is 10 001 events behind catches up with all of them', async () => {
    await using db = await createTestDatabase();
    await register(db, counted);
    await fill(db, 10_001);
    await using shop = service(db, { perspectives: [counted] });
    await shop.start();
    await eventually(async () =>
      expect(await rowsOf(db, 'counted')).toMatchObject([{ data: { count: 10_001 } }]),
    );
  });

  it('a perspective of a rare type looks at as little beside 20 000 other events as beside 2 000', async () => {
    const looked: number[] = [];
    for (const others of [2_000, 20_000]) {
      await using db = await createTestDatabase();
      await register(db, orders);
      await fill(db, others, 'Other');
      await makeTick(db.pool);
      const id = randomUUID();
      await db.pool.query('update wh_perspective_bookmarks set instance_id = $1', [id]);
      const { rows } = await db.pool.query(
        `explain (analyze, buffers, format json) select wh_take_bookmark($1, 'orders@1', 0, 500)`,
        [id],
      );
      const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
      looked.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
    }
    expect(looked[1]).toBeLessThan((looked[0] as number) * 2);
  });

  it('ten sessions that are idle in transactions hold no perspective up', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    for (let i = 0; i < 10; i++) {
      const client = await db.connect();
      await client.query('begin');
      await append(client);
      await client.query('select pg_advisory_xact_lock($1)', [i]);
    }
    await shop.events.append([placed('a'), placed('b')]);
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(2));
  });

  it('an event under an earlier name of its type is applied', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    const { streamId } = await shop.events.append(placed('a'));
    await db.pool.query(
      `with stream as (update wh_event_streams set version = version + 1 where stream_id = $1 returning version)
       insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data)
       select gen_random_uuid(), $1, version, 'OrderSettled', 'Order', $2 from stream`,
      [streamId, { orderId: 'a', cents: 1, paidAt: '2026-11-17T08:00:00Z' }],
    );
    await eventually(async () =>
      expect(await rowsOf(db, 'orders')).toMatchObject([{ version: '2', status: 'paid' }]),
    );
  });

  it('a call that names no perspectives leases none, whatever its room is', async () => {
    await using db = await createTestDatabase();
    await register(db, counted);
    await fill(db, 3);
    await makeTick(db.pool);
    const caller = instance(db, 'a');
    expect(await caller.call()).toEqual([]);
    expect(await caller.call({ p_max_perspective_items: 1000 })).toEqual([]);
    expect(await caller.call({ p_perspectives: ['other@1'] })).toEqual([]);
    const { rows } = await db.pool.query('select instance_id from wh_perspective_bookmarks');
    expect(rows).toEqual([{ instance_id: null }]);
    expect(await caller.call({ p_perspectives: ['counted@1'] })).toMatchObject([
      { destination: 'counted@1' },
    ]);
  });

  it('three streams of one batch announce three messages, each once', async () => {
    await using db = await createTestDatabase();
    const announcing = perspective('announcing', { model: z.object({ orderId: z.string() }) })
      .starts(OrderPlaced, ({ orderId }) => ({ orderId }))
      .announces(OrderCancelled, ({ orderId }) => ({ orderId }))
      .announces(OrderCancelled, ({ orderId }) => ({ orderId: `${orderId} again` }));
    await using shop = service(db, { perspectives: [announcing] });
    await shop.start();
    await shop.events.append([placed('a'), placed('b'), placed('c')]);
    await eventually(async () => expect(await rowsOf(db, 'announcing')).toHaveLength(3));
    await eventually(async () => {
      const { rows: stored } = await db.pool.query<{ id: string }>(
        `select event_data ->> 'orderId' as id from wh_event_store where event_type = 'OrderCancelled'`,
      );
      expect(stored.map(({ id }) => id).sort()).toEqual(['a', 'a again', 'b', 'b again', 'c', 'c again']);
    });
  });
});

describe.skipIf(!pgbouncerIsInstalled)('A perspective through pgbouncer in transaction mode', () => {
  it('two instances behind pgbouncer apply every event to a perspective once', async () => {
    await using db = await createTestDatabase();
    await using bouncer = await startPgBouncer(db.connectionString);
    const { connectionString } = bouncer;
    const steps = perspective('steps', { model: z.object({ steps: z.array(z.number()) }) })
      .starts(OrderPlaced, () => ({ steps: [1] }))
      .on(OrderPaid, ({ steps: before }, { cents }) => ({ steps: [...before, cents] }));
    const make = () =>
      service(db, { connectionString, perspectives: [steps], listen: false, pollIntervalMs: 20 });
    await using one = make();
    await using two = make();
    await Promise.all([one.start(), two.start()]);
    const ids = Array.from({ length: 10 }, (_, i) => `order ${i}`);
    await one.events.append(ids.map((id) => placed(id)));
    for (const cents of [2, 3]) await two.events.append(ids.map((id) => paid(id, cents)));
    await eventually(async () => {
      const rows = await rowsOf<{ data: unknown }>(db, 'steps');
      expect(rows.map(({ data }) => data)).toEqual(ids.map(() => ({ steps: [1, 2, 3] })));
    });
  });
});
