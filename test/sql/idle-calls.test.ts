import { describe, expect } from 'vitest';
import { begin } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import {
  type Instance,
  it,
  lanes,
  message,
  type Parameters,
  silence,
  stream,
  streamOwnedBy,
  streams,
} from '../support/work.js';

const listParameters = [
  'p_outbox_completions',
  'p_outbox_failures',
  'p_inbox_completions',
  'p_inbox_failures',
  'p_receptor_completions',
  'p_receptor_failures',
  'p_perspective_completions',
  'p_perspective_failures',
  'p_new_outbox_messages',
  'p_new_inbox_messages',
  'p_renew_outbox_lease_ids',
  'p_renew_inbox_lease_ids',
] as const;

/** What a call that hands nothing out has written, by table; null when it did not even take a transaction id. */
async function written(
  db: TestDatabase,
  instance: Instance,
  parameters: Parameters = {},
): Promise<Record<string, number> | null> {
  const client = await db.connect();
  await client.query('begin');
  expect(await instance.over(client).call(parameters)).toEqual([]);
  const { rows } = await client.query(`
    select pg_current_xact_id_if_assigned() is null as nothing,
      (select coalesce(jsonb_object_agg(relname, n_tup_ins + n_tup_upd + n_tup_del), '{}')
       from pg_stat_xact_user_tables where n_tup_ins + n_tup_upd + n_tup_del > 0) as changes`);
  await client.query('rollback');
  return rows[0].nothing ? null : rows[0].changes;
}

describe('A call with nothing to do', () => {
  it('a call with nothing to do writes nothing', async ({ db, a }) => {
    await a.call();
    await silence(db, a, -30);
    expect(await written(db, a)).toBeNull();
  });

  it('a call with nothing to do writes only its heartbeat when that has aged', async ({ db, a }) => {
    await a.call();
    await silence(db, a, 2);
    expect(await written(db, a)).toEqual({ wh_service_instances: 1 });
  });

  it.for(listParameters)('a call with an empty list as %s writes nothing', async (name, { db, a }) => {
    await a.call();
    await silence(db, a, -30);
    expect(await written(db, a, { [name]: [] })).toBeNull();
  });
});

describe.each(lanes)('Idle calls beside work in the %s', (lane) => {
  it('an idle call writes nothing when other instances hold all work', async ({ db, a, b }) => {
    await a.call(lane.stores(...streams(50)));
    await b.call();
    await silence(db, b, -30);
    expect(await written(db, b)).toBeNull();
  });

  it('an idle call writes nothing when the instance itself holds all work', async ({ db, a }) => {
    await a.call(lane.stores(...streams(50)));
    await silence(db, a, -30);
    expect(await written(db, a)).toBeNull();
  });

  it('an idle call writes nothing when all work is scheduled for later', async ({ db, a }) => {
    const work = await a.call(lane.stores(...streams(50)));
    await a.call(lane.fails(work, { retry_after_seconds: 600 }));
    await silence(db, a, -30);
    expect(await written(db, a)).toBeNull();
  });

  it('an idle call writes nothing when all work belongs to other instances', async ({ db, a, b }) => {
    await a.call();
    await b.call();
    await lane.insertPlain(db.pool, message({ stream_id: await streamOwnedBy(db, a) }));
    await b.call();
    await silence(db, b, -30);
    expect(await written(db, b)).toBeNull();
  });

  it('an idle call writes nothing beside inserts into held streams while a transaction holds the floors back', async ({
    db,
    a,
    b,
  }) => {
    const [first, second] = stream(2);
    const writer = await begin(db);
    await writer.query('select pg_current_xact_id()');
    await a.call(lane.stores(first ?? message()));
    await lane.insertPlain(db.pool, second ?? message());
    await b.call();
    await silence(db, b, -30);
    await db.pool.query(`update wh_lanes set moved_at = '-infinity', swept_at = '-infinity'`);
    expect(await written(db, b)).toBeNull();
    await writer.query('rollback');
  });
});
