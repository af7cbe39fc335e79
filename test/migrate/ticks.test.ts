// A store of the release before ticks: it is upgraded without a rewrite, with all its events, and appends go on.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WorkCoordinator } from '../../src/coordination.js';
import { migrate, migrateTo } from '../../src/migrate/index.js';
import { makeRelease } from '../../src/migrate/release.js';
import { embeddedSql } from '../../src/migrate/sql.generated.js';
import { outboxMessage } from '../coordinator/new-messages.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { append, appendMany, faultless, judge, makeTick, wholeOrder } from '../support/ticks.js';

/** What needs a later table when it is made. */
const ofTicks = /tick|_audit$|^wh_read_events$|^wh_load_stream$|^wh_events$|^wh_perspective_positions$/;
/** The look into the archive, which came later. */
const archive = / *if exists \(select from wh_event_archive.*?end if;\n/s;
/** What appends do for perspectives, which came later. */
const notice = / *if exists \(select from wh_perspectives\).*?end if;\n/s;
/** Has a variable or a parameter of a type that came later. */
const ofPerspectives =
  /\w+ wh_(perspectives|perspective_bookmarks|place)(\[\])?( :=|;|,|\))|returns (setof )?wh_(perspectives|place|schedules|timers)/;
/** As it was before there were ticks. */
const before = makeRelease('0.0.1', {
  migrations: embeddedSql.migrations.filter(
    ({ name }) => name < '0004' || /facts|limits|timers|priority|requests|operations/.test(name),
  ), // what every call needs
  types: embeddedSql.types.filter(({ name }) => !ofTicks.test(name)),
  functions: embeddedSql.functions
    .filter(({ name }) => !ofTicks.test(name))
    .map(({ name, text }) => ({ name, text: text.replace(archive, '').replace(notice, '') }))
    .filter(({ text }) => !ofPerspectives.test(text)),
  views: embeddedSql.views.filter(({ name }) => name === 'wh_partition_assignments'),
});

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase({ template: 'empty' });
  await migrateTo(before, { pool: db.pool });
});
afterEach(() => db.drop());

const rowsOf = async (sql: string) => (await db.pool.query(sql)).rows;

describe('A store with events of the release before', () => {
  it('the upgrade keeps every event as it is, and rewrites none', async () => {
    await appendMany(db.pool, 500);
    const events = 'select * from wh_event_store order by sequence_number';
    const file = `select pg_relation_filenode('wh_event_store') as file`;
    const [rows, [place]] = [await rowsOf(events), await rowsOf(file)];
    const { applied } = await migrate({ pool: db.pool });
    expect(applied).toContain('0004_ticks');
    expect(await rowsOf(events)).toEqual(rows.map((row) => ({ ...row, transaction_id: '0' })));
    expect(await rowsOf(file)).toEqual([place]);
  });

  it('the first ticks after the upgrade have all events in the order of their numbers', async () => {
    await appendMany(db.pool, 1_500);
    await migrate({ pool: db.pool });
    await append(db.pool);
    await makeTick(db.pool);
    expect(await judge(db)).toEqual({ ...faultless, events: 1_501 });
    const order = await wholeOrder(db);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it('an instance from before the upgrade goes on appending, and so do inserts without the new column', async () => {
    const running = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'orders' } });
    const event = () => outboxMessage({ streamId: crypto.randomUUID(), isEvent: true });
    await running.processWorkBatch({ newOutboxMessages: [event()] });
    await migrate({ pool: db.pool });
    await makeTick(db.pool);
    await running.processWorkBatch({ newOutboxMessages: [event()] });
    await append(db.pool);
    await makeTick(db.pool);
    expect(await judge(db)).toEqual({ ...faultless, events: 3 });
    expect(
      await rowsOf(`select count(*)::int as known from wh_event_store where transaction_id > '0'`),
    ).toEqual([{ known: 2 }]);
  });

  it('the upgrade waits for an append that is under way, which is then in the first tick', async () => {
    const [writer, migrator] = [await openSession(db), await openSession(db)];
    await writer.client.query('begin');
    await append(writer.client);
    const migration = migrate({ client: migrator.client });
    expect(await waitUntilBlocked(db, migrator.pid)).toEqual([writer.pid]);
    await writer.client.query('commit');
    await migration;
    await makeTick(db.pool);
    expect(await judge(db)).toEqual({ ...faultless, events: 1 });
  });
});
