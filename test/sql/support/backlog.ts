// A large backlog in both lanes, written directly: in: a database; out: nothing.
// Per lane 50 000 streams that anybody may take, one stream 25 000 deep that another instance holds, 15 000 streams
// blocked by a retry, 15 000 left for want of a handler and 10 000 held by others; with an event store and a deduplication table to match.
import type { TestDatabase } from '../../support/database.js';
import { instance, lanes } from '../../support/work.js';

export const backlogTables = [
  'wh_outbox',
  'wh_inbox',
  'wh_active_streams',
  'wh_event_store',
  'wh_event_streams',
  'wh_message_deduplication',
  'wh_receptor_processing',
  'wh_perspective_checkpoints',
];

export async function fillBacklog(db: TestDatabase): Promise<void> {
  const other = instance(db, 'f');
  await other.call();
  for (const lane of lanes) {
    await db.pool.query(`
      with kinds (kind, streams, depth, held, scheduled, waits_for) as (
        values ('free', 50000, 1, false, false, null), ('deep', 1, 25000, true, false, null),
               ('blocked', 15000, 1, false, true, null), ('held', 10000, 1, true, false, null),
               ('left', 15000, 1, false, false, 'nobody')
      ), streams as (
        select k.*, md5(k.kind || '${lane.source}' || i)::uuid as stream_id
        from kinds k cross join lateral generate_series(1, k.streams) i
      ), stored as (
        insert into ${lane.table} (message_id, ${lane.target}, event_type, event_data, stream_id, partition_number,
          scheduled_for, instance_id, lease_expiry)
        select gen_random_uuid(), coalesce(s.waits_for, 'orders'), 'shop.OrderPlaced', '{}', s.stream_id, wh_partition(s.stream_id, 10000),
          case when s.scheduled then now() + interval '1 hour' end,
          case when s.held and n <= 100 then '${other.id}'::uuid end,
          case when s.held and n <= 100 then now() + interval '1 hour' end
        from streams s cross join lateral generate_series(1, s.depth) n
      )
      insert into wh_active_streams (stream_id, lane, partition_number, instance_id, lease_expiry, available_at, is_blocked, head, held_through, waits_for)
      select s.stream_id, '${lane.source}', wh_partition(s.stream_id, 10000),
        case when s.held then '${other.id}'::uuid end, case when s.held then now() + interval '1 hour' end,
        case when s.scheduled then now() + interval '1 hour' else now() - interval '1 hour' end, s.scheduled, 0,
        case when s.held then 9223372036854775807 else 0 end, s.waits_for
      from streams s`);
  }
  // These streams have been due for an hour: below the floors, where calls look only once a minute.
  await db.pool.query(`update wh_lanes set free_from = '-infinity', leased_from = '-infinity'`);
  await db.pool.query(`
    insert into wh_event_streams (stream_id, version)
    select md5('event' || i)::uuid, 1 from generate_series(1, 50000) i;
    insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data)
    select gen_random_uuid(), md5('event' || i)::uuid, 1, 'shop.OrderPlaced', 'OrderPlaced', '{}' from generate_series(1, 50000) i;
    insert into wh_message_deduplication (message_id) select gen_random_uuid() from generate_series(1, 50000);
    insert into wh_receptor_processing (event_id, receptor_name, status)
    select md5('event' || i)::uuid, 'mailer', 8 from generate_series(1, 20000) i;
    insert into wh_perspective_checkpoints (stream_id, perspective_name, status)
    select md5('event' || i)::uuid, 'order-list', 16 from generate_series(1, 20000) i`);
}

/** By delete: plans stay as they are. */
export async function emptyBacklog(db: TestDatabase): Promise<void> {
  await db.pool.query(backlogTables.map((table) => `delete from ${table}`).join('; '));
}

/** By truncate: the files are empty, the statistics are not; every plan is made anew. */
export async function truncateBacklog(db: TestDatabase): Promise<void> {
  await db.pool.query(`truncate ${backlogTables.join(', ')}`);
}

export async function analyze(db: TestDatabase): Promise<void> {
  await db.pool.query(`analyze ${backlogTables.join(', ')}`);
}
