// The views that the page for operators reads beside the others: messages, waiting streams, and the load by owner.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { inbox, it, lanes, message, outbox, silence, stream, streamOwnedBy } from '../support/work.js';

const rowsOf = async (db: TestDatabase, query: string, values: unknown[] = []) =>
  (await db.pool.query(query, values)).rows;

describe.each(lanes)('The views of the page, in the %s', (lane) => {
  it('wh_messages tells where a message is kept and which way it came, without its payload', async ({
    db,
    a,
  }) => {
    const metadata = {
      traceparent: 'trace',
      correlationId: 'c',
      causationId: 'b',
      hops: [{ service: 'web' }],
    };
    const [first, second] = [message({ metadata, event_data: { secret: 1 } }), message()];
    const items = await a.call(lane.stores(first, second));
    const dying = items.filter(({ message_id: id }) => id === second.message_id);
    await a.call(lane.fails(dying, { error: 'broken\nat here', dead_letter: true }));
    const rows = await rowsOf(db, 'select * from wh_messages order by kept_in desc');
    expect(rows).toMatchObject(
      [
        {
          kept_in: `${lane}`,
          message_id: first.message_id,
          traceparent: 'trace',
          correlation_id: 'c',
          causation_id: 'b',
          hops: [{ service: 'web' }],
        },
        { kept_in: 'dead letters', message_id: second.message_id, error: 'broken', attempts: 1 },
      ].toSorted((x, y) => (x.kept_in < y.kept_in ? 1 : -1)),
    );
    expect(JSON.stringify(rows)).not.toContain('secret');
  });

  it('wh_waiting_streams has what nobody holds, with its kind', async ({ db, a }) => {
    const [item] = await a.call(lane.stores(message()));
    expect(await rowsOf(db, 'select * from wh_waiting_streams')).toEqual([]);
    await a.call(lane.fails([item as never], { error: 'x', retry_after_seconds: 600 }));
    expect(await rowsOf(db, 'select * from wh_waiting_streams')).toMatchObject([
      { lane: `${lane}`, is_blocked: true, waits_for: null },
    ]);
  });

  it('wh_owner_load gives the streams of a partition to its owner, and to the next when that one dies', async ({
    db,
    a,
    b,
  }) => {
    await a.call();
    await b.call();
    const stream_id = await streamOwnedBy(db, b);
    await b.call(lane.stores(...stream(2, { stream_id })));
    const load = () => rowsOf(db, 'select lane, owner, streams, leased_streams from wh_owner_load');
    expect(await load()).toEqual([{ lane: `${lane}`, owner: b.id, streams: '1', leased_streams: '1' }]);
    await silence(db, b, 700);
    expect(await load()).toMatchObject([{ owner: a.id }]);
    await silence(db, a, 700);
    expect(await load()).toMatchObject([{ owner: null, streams: '1' }]);
  });
});

describe('The view wh_messages', () => {
  it('wh_messages reads one message and one stream by an index', async ({ db, a }) => {
    await a.call(inbox.stores(...stream(3)), outbox.stores(message()));
    const client = await db.connect();
    await client.query('set enable_seqscan = off');
    const plan = async (where: string) =>
      JSON.stringify((await client.query(`explain select * from wh_messages where ${where}`)).rows);
    expect(await plan('message_id = gen_random_uuid()')).toContain('Seq Scan'); // volatile: what the next lines would miss
    expect(await plan(`message_id = '0190aaaa-0000-7000-8000-000000000001'`)).not.toContain('Seq Scan');
    const inLanes = `stream_id = '0190aaaa-0000-7000-8000-000000000001' and kept_in in ('outbox', 'inbox')`;
    expect(await plan(inLanes)).not.toContain('Seq Scan');
    await client.end();
  });
});

describe('Counts that are asked again and again', () => {
  it('wh_owner_load counts the streams as it reads them, and neither sorts nor joins them', async ({
    db,
    a,
  }) => {
    await a.call();
    await db.pool.query(`insert into wh_active_streams (stream_id, lane, partition_number, available_at, head, held_through)
      select gen_random_uuid(), 'inbox', i % 10000, now(), 1, 0 from generate_series(1, 30000) i`);
    await db.pool.query('vacuum analyze wh_active_streams');
    const [{ 'QUERY PLAN': plan } = { 'QUERY PLAN': [] }] = await rowsOf(
      db,
      'explain (format json) select * from wh_owner_load',
    );
    const above = JSON.stringify(plan).split('"Relation Name":"wh_active_streams"')[0] ?? '';
    const nodes = [...above.matchAll(/"Node Type":"([^"]+)"(?:,"Strategy":"(\w+)")?/g)].map(
      ([, ...each]) => each,
    );
    expect(nodes.slice(-2)).toEqual([
      ['Aggregate', 'Hashed'],
      ['Seq Scan', undefined],
    ]);
    const [{ streams } = { streams: '' }] = await rowsOf(
      db,
      'select sum(streams) as streams from wh_owner_load',
    );
    expect(streams).toBe('30000');
  });

  it('wh_lane_status counts dead letters by an index, also for the lane that has none', async ({ db }) => {
    await db.pool.query(`insert into wh_dead_letters (source, message_id, destination, event_type, event_data, is_event, status, flags,
        sequence_order, attempts, stored_at, died_at)
      select 'inbox', gen_random_uuid(), 'X', 'X', '1', false, 1, 0, 1, 1, now(), now() from generate_series(1, 20000)`);
    await db.pool.query('vacuum analyze wh_dead_letters');
    expect(await rowsOf(db, 'select lane, dead_letters from wh_lane_status order by lane')).toEqual([
      { lane: 'inbox', dead_letters: '10001' },
      { lane: 'outbox', dead_letters: '0' },
    ]);
    const plan = JSON.stringify(await rowsOf(db, 'explain select * from wh_lane_status'));
    expect(plan).toContain('wh_dead_letters_source');
    expect(plan).not.toContain('Seq Scan on wh_dead_letters');
  });
});
