-- Inserts the stream rows of everything that the call stores and admits in the lane, and locks existing rows.
-- A fresh stream with a stored message that can run now is inserted as held by the caller, so that store and lease are
-- one insert each. A fresh stream whose first message has to wait is inserted as blocked (see wh_point_heads_{lane}).
-- p_held: streams that the caller has reported on and locked. Besides fresh streams, it may lease new messages only
-- there.
-- Any other existing row is not touched: what is stored there stays unadmitted, like a plain insert, so a storer holds
-- up no other call.
-- `on conflict do nothing` would avoid the unique_violation at twice the cost: 13 instead of 7 ms for 500 rows.
-- Locks: new stream rows by stream_id, outbox before inbox; it waits for a call that opens the same stream. Existing
--   rows as wh_lock_known_streams.
-- Reads by: primary key.
-- Raises: unique_violation if that call commits (wh_store tries again).
-- Called by: wh_try_store
create or replace function wh_open_streams_{lane}(
  c wh_call, p_messages wh_new_message[], p_arrivals wh_arrival[], p_held wh_open_stream[], p_room int, p_partitions int[]
)
returns wh_opened
language plpgsql
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
declare
  v_fresh wh_open_stream[];
  v_held wh_open_stream[];
  v_known uuid[];
  v_ranked uuid[];
  v_priorities int[];
begin
  if c.{lane}_ranked then
    -- A stream has the priority of its first message. Which may be leased at once, the claim decides.
    select array_agg(f.stream_key), array_agg(f.priority) into v_ranked, v_priorities
    from (
      select distinct on (w.stream_key) w.stream_key, w.priority
      from (
        select m.stream_key, m.ord, 0 as sequence_order, m.priority from unnest(p_messages) m
        union all
        select a.stream_key, 0, a.sequence_order, a.priority from unnest(p_arrivals) a
      ) w
      order by w.stream_key, w.ord, w.sequence_order
    ) f
    where f.priority is not null;
  end if;
  with wanted as (
    select w.stream_id, w.partition_number, min(w.ord) as ord, least(min(w.sequence_order), c.{lane}_floor) as head,
      min(case when w.scheduled_for > c.now then w.ord end) as scheduled_ord,
      min(case when w.scheduled_for > c.now then w.scheduled_for end) as available_at
    from (
      select m.stream_key as stream_id, m.partition_number, m.ord, m.scheduled_for, null::bigint as sequence_order
      from unnest(p_messages) m
      union all
      select a.stream_key, a.partition_number, 0, null, a.sequence_order from unnest(p_arrivals) a
    ) w
    group by w.stream_id, w.partition_number
  ), others as (
    select w.* from wanted w left join unnest(p_held) h on h.stream_id = w.stream_id where h.stream_id is null
  ), known as (
    select s.stream_id
    from wh_active_streams s
    -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
    where s.stream_id = any(array(select o.stream_id from others o)) and (s.lane = '{lane}') is true
  ), opened as (
    insert into wh_active_streams (stream_id, lane, partition_number, instance_id, lease_expiry, available_at, is_blocked, head, held_through, priority)
    select w.stream_id, '{lane}', w.partition_number, case when h.held then c.instance_id end, case when h.held then c.lease_expiry end,
      case when w.ord = w.scheduled_ord then w.available_at else c.now end, coalesce(w.ord = w.scheduled_ord, false),
      w.head, case when h.held then {Everything} else 0 end, r.priority
    from others w
    -- Held: nothing arrived before it, its first message is not scheduled for later, and there is room for it. Where
    -- something has a priority, none is: the claim takes them in their order.
    cross join lateral (
      select c.{lane}_ranked is not true and w.ord between 1 and p_room and coalesce(w.ord < w.scheduled_ord, true)
        and (p_partitions is null or w.partition_number = any(p_partitions)) as held
    ) h
    left join known k on k.stream_id = w.stream_id
    left join unnest(v_ranked, v_priorities) as r(stream_id, priority) on r.stream_id = w.stream_id
    where k.stream_id is null
    order by w.stream_id
    returning (lane, stream_id, true, instance_id is not null, lease_expiry, head, held_through)::wh_open_stream as stream
  )
  select (select array_agg(o.stream) from opened o),
         (select array_agg(h::wh_open_stream) from unnest(p_held) h join wanted w on w.stream_id = h.stream_id),
         (select array_agg(k.stream_id) from known k join wanted w on w.stream_id = k.stream_id where w.ord = 0)
  into v_fresh, v_held, v_known;
  return row(coalesce(v_fresh, '{}') || v_held || wh_lock_known_streams('{lane}', v_known),
    v_held is not null or v_known is not null)::wh_opened;
end
$$;
