// A store that comes from elsewhere: of a release without perspectives, or restored into a cluster whose transaction ids
// are others.
import { describe, expect, it } from 'vitest';
import { migrate, migrateTo } from '../../src/migrate/index.js';
import { makeRelease } from '../../src/migrate/release.js';
import { embeddedSql } from '../../src/migrate/sql.generated.js';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { orders, revenue, rowsOf } from './support/orders.js';

const ids = (count: number) => Array.from({ length: count }, (_, i) => `order ${i}`);

/** All orders are paid, in the models of both. */
async function expectPaid(db: TestDatabase, count: number): Promise<void> {
  await eventually(async () => {
    const rows = await rowsOf<{ version: string; status: string }>(db, 'orders');
    expect(rows.map(({ version, status }) => `${version} ${status}`)).toEqual(ids(count).map(() => '2 paid'));
    expect(await rowsOf(db, 'revenue')).toMatchObject([{ version: String(count), data: { orders: count } }]);
  });
}

/** As a dump of a cluster with higher transaction ids is restored: the rows are the same, the ids mean nothing here. */
async function comeFromElsewhere(db: TestDatabase): Promise<void> {
  const shifted = (column: string) => `(${column}::text::bigint + 1000000)::text::xid8`;
  const list = (column: string) => `array(select ${shifted('o')} from unnest(${column}) o)`;
  await db.pool.query(`
    update wh_event_store set transaction_id = ${shifted('transaction_id')};
    update wh_event_ticks set next_xid = ${shifted('next_xid')}, open = ${list('open')};
    update wh_perspectives set started_next_xid = ${shifted('started_next_xid')}, started_open = ${list('started_open')};
    update wh_perspective_bookmarks set instance_id = null, lease_expiry = null`);
}

describe('A store that comes from elsewhere', () => {
  it('the events of a release without perspectives are in the models after the upgrade', async () => {
    const ofPerspectives =
      /wh_perspectives|wh_perspective_bookmarks|wh_event_archive|wh_events\b|wh_subject_|wh_schedules|wh_timers/;
    const before = makeRelease('0.0.1', {
      ...embeddedSql,
      migrations: embeddedSql.migrations.filter(({ name }) => name < '0005'),
      functions: embeddedSql.functions.filter(({ text }) => !ofPerspectives.test(text)),
      views: embeddedSql.views.filter(({ name }) => name === 'wh_partition_assignments'),
    });
    await using db = await createTestDatabase({ template: 'empty' });
    await migrateTo(before, { pool: db.pool });
    await db.pool.query(
      `with stream as (select gen_random_uuid() as id from generate_series(1, 700)), versions as (
         insert into wh_event_streams (stream_id, version) select id, 2 from stream)
       insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data)
       select gen_random_uuid(), id, v, case v when 1 then 'OrderPlaced' else 'OrderPaid' end, 'Order', $1
       from stream cross join generate_series(1, 2) v`,
      [{ orderId: 'o', cents: 1, paidAt: '2026-11-17T08:00:00Z' }],
    );
    await migrate({ pool: db.pool });
    await using shop = service(db, { perspectives: [orders, revenue] });
    await shop.start();
    await expectPaid(db, 700);
  });

  it('perspectives of a restored store go on where they were, and apply every event once', async () => {
    await using db = await createTestDatabase();
    await using before = service(db, { perspectives: [orders, revenue] });
    await before.start();
    await before.events.append(ids(20).map((id) => placed(id)));
    await before.events.append(ids(10).map((id) => paid(id)));
    await eventually(async () => expect(await rowsOf(db, 'revenue')).toMatchObject([{ version: '10' }]));
    await before.stop();
    await comeFromElsewhere(db);
    await using shop = service(db, { perspectives: [orders, revenue] });
    await shop.start();
    await shop.events.append(
      ids(20)
        .slice(10)
        .map((id) => paid(id)),
    );
    await expectPaid(db, 20);
  });

  it('a sweep of a restored store goes on, beside events that are appended now', async () => {
    await using db = await createTestDatabase();
    await using before = service(db);
    await before.events.append(ids(20).map((id) => placed(id)));
    await db.pool.query('select wh_tick()');
    await using registering = service(db, { perspectives: [orders, revenue] });
    await registering.start();
    await registering.stop();
    await db.pool.query(`
      delete from orders_v1; delete from revenue_v1; update wh_perspectives set state = 'building';
      update wh_perspective_bookmarks set swept = 0 where name = 'orders@1';
      update wh_perspective_bookmarks set tick = 0, upto = 0 where name = 'revenue@1'`);
    await comeFromElsewhere(db);
    await before.events.append(ids(20).map((id) => paid(id)));
    await using shop = service(db, { perspectives: [orders, revenue] });
    await shop.start();
    await expectPaid(db, 20);
  });
});
