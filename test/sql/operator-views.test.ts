// The views for operators: what is stuck and why, without a payload. Each state is staged by calls and read back.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import {
  expireLeases,
  inbox,
  it,
  lanes,
  message,
  outbox,
  silence,
  stream,
  streams,
} from '../support/work.js';

const rowsOf = async (db: TestDatabase, query: string) => (await db.pool.query(query)).rows;
const laneOf = async (db: TestDatabase, lane: string) =>
  (await db.pool.query('select * from wh_lane_status where lane = $1', [lane])).rows[0];

describe('The view wh_instances', () => {
  it('wh_instances tells what an instance asked for, and what it said of itself', async ({ db, a }) => {
    await a.call(inbox.room(7), outbox.room(5), {
      p_inbox_handlers: ['mail'],
      p_spare_inbox_streams: 3,
      p_max_partitions_per_instance: 40,
      p_takeover_seconds: 2,
      p_lease_seconds: 30,
      p_facts: { version: '0.2.0', handled: 12, failed: 1, published: 3, calls: 40 },
    });
    expect(await rowsOf(db, 'select * from wh_instances')).toMatchObject([
      {
        instance_id: a.id,
        version: '0.2.0',
        is_stale: false,
        handlers: ['mail'],
        outbox_room: 5,
        inbox_room: 7,
        inbox_spare: 3,
        max_partitions: 40,
        takeover_seconds: '2',
        lease_seconds: 30,
        handled: '12',
        failed: '1',
        published: '3',
        calls: '40',
        inbox_rank: '0',
        inbox_share: '1.0000',
      },
    ]);
  });

  it('wh_instances counts only living instances into the shares', async ({ db, a, b, c }) => {
    for (const each of [a, b, c]) await each.call();
    await silence(db, c, 700);
    const rows = await rowsOf(
      db,
      'select instance_id, is_stale, outbox_rank, outbox_share from wh_instances order by 1',
    );
    expect(rows).toEqual([
      { instance_id: a.id, is_stale: false, outbox_rank: '0', outbox_share: '0.5000' },
      { instance_id: b.id, is_stale: false, outbox_rank: '1', outbox_share: '0.5000' },
      { instance_id: c.id, is_stale: true, outbox_rank: null, outbox_share: null },
    ]);
  });

  it('an instance that only renews keeps what it said when it last asked', async ({ db, a }) => {
    await outbox.insertPlain(db.pool, message());
    const items = await a.call(inbox.room(7), { p_inbox_handlers: ['mail'] });
    const [before] = await rowsOf(db, 'select last_call_at, inbox_room, handlers from wh_instances');
    await silence(db, a, 5);
    await a.call(outbox.renews(items), outbox.room(0), inbox.room(0));
    const [after] = await rowsOf(db, 'select last_call_at, inbox_room, handlers from wh_instances');
    expect(after).toEqual(before);
    const [{ beats }] = await rowsOf(
      db,
      `select last_heartbeat_at > now() - interval '4 seconds' as beats from wh_instances`,
    );
    expect(beats).toBe(true);
  });

  it('an instance writes its facts with the heartbeat and not with every call', async ({ db, a }) => {
    await a.call({ p_facts: { calls: 1 } });
    await silence(db, a, -60);
    await a.call({ p_facts: { calls: 2 } });
    expect(await rowsOf(db, 'select calls from wh_instances')).toEqual([{ calls: '1' }]);
    await silence(db, a, 1);
    await a.call({ p_facts: { calls: 3 } });
    expect(await rowsOf(db, 'select calls from wh_instances')).toEqual([{ calls: '3' }]);
  });
});

describe.each(lanes)('The views of streams, in the %s', (lane) => {
  it('wh_lane_status and wh_stream_status tell streams that are held, due, scheduled and new', async ({
    db,
    a,
  }) => {
    const held = stream(3);
    await a.call(lane.stores(...held));
    const later = message({ scheduled_for: new Date(Date.now() + 3_600_000).toISOString() });
    await a.call(lane.stores(later));
    await lane.insertPlain(db.pool, message());
    expect(await laneOf(db, lane.source)).toMatchObject({
      due_streams: '0',
      leased_streams: '1',
      scheduled_streams: '1',
      unadmitted_messages: '1',
    });
    const streamRows = await rowsOf(
      db,
      `select state, depth, held_by, first_message_id from wh_stream_status order by state`,
    );
    expect(streamRows).toEqual([
      { state: 'held', depth: '3', held_by: a.id, first_message_id: held[0]?.message_id },
      { state: 'scheduled', depth: '1', held_by: null, first_message_id: later.message_id },
    ]);
    expect(await rowsOf(db, 'select instance_id, is_orphaned from wh_leases')).toEqual([
      { instance_id: a.id, is_orphaned: false },
    ]);

    await expireLeases(db, a);
    expect(await rowsOf(db, 'select is_orphaned from wh_leases')).toEqual([{ is_orphaned: true }]);
    expect(await rowsOf(db, `select state from wh_stream_status where held_by is not null`)).toEqual([
      { state: 'orphaned' },
    ]);
  });

  it('wh_blocked_streams names the retry that a stream waits behind, with the first line of its error', async ({
    db,
    a,
  }) => {
    const first = message();
    const items = await a.call(lane.stores(first));
    await a.call(lane.fails(items, { error: 'gateway timed out\n    at pay()', retry_after_seconds: 600 }));
    expect(
      await rowsOf(
        db,
        'select lane, reason, message_id, attempts, error, until > now() as is_later from wh_blocked_streams',
      ),
    ).toEqual([
      {
        lane: lane.source,
        reason: 'scheduled',
        message_id: first.message_id,
        attempts: 1,
        error: 'gateway timed out',
        is_later: true,
      },
    ]);
  });

  it('wh_dead_letter_summary groups dead letters by type and the first line of their error', async ({
    db,
    a,
  }) => {
    const items = await a.call(lane.stores(...streams(3)));
    await a.call(lane.fails(items, { error: 'no such card\nat pay()', dead_letter: true }));
    expect(await rowsOf(db, 'select lane, event_type, error, letters from wh_dead_letter_summary')).toEqual([
      { lane: lane.source, event_type: 'shop.OrderPlaced', error: 'no such card', letters: '3' },
    ]);
    expect((await laneOf(db, lane.source)).dead_letters).toBe('3');
  });

  it('wh_partition_load counts each stream with work in one of 100 buckets', async ({ db, a }) => {
    await a.call(lane.stores(...streams(50)), lane.room(20));
    const [row] = await rowsOf(
      db,
      `select sum(streams)::int as streams, sum(leased_streams)::int as leased, sum(due_streams)::int as due, max(bucket) < 100 as is_bucket
       from wh_partition_load`,
    );
    expect(row).toEqual({ streams: 50, leased: 20, due: 30, is_bucket: true });
  });
});

describe('The views of the server', () => {
  it('wh_old_transactions shows a transaction that keeps dead rows', async ({ db }) => {
    const client = await db.connect();
    await client.query('begin isolation level repeatable read');
    const { rows } = await client.query('select pg_backend_pid()::text as pid, count(*) from wh_outbox');
    const found = await rowsOf(
      db,
      `select kind, state, since is not null as has_start from wh_old_transactions where name = '${rows[0].pid}'`,
    );
    expect(found).toEqual([{ kind: 'transaction', state: 'idle in transaction', has_start: true }]);
    await client.query('rollback');
    expect(await rowsOf(db, `select from wh_old_transactions where name = '${rows[0].pid}'`)).toEqual([]);
  });

  it('wh_table_health lists every table of the schema with its size', async ({ db }) => {
    const rows = await rowsOf(db, 'select table_name, table_bytes::int from wh_table_health');
    const tables = await rowsOf(
      db,
      `select relname as name from pg_class where relkind = 'r' and relnamespace = (select relnamespace from pg_class where oid = 'wh_outbox'::regclass)`,
    );
    expect(rows.map((row) => row.table_name).sort()).toEqual(tables.map((row) => row.name).sort());
    expect(rows.every((row) => row.table_bytes >= 0)).toBe(true);
  });
});
