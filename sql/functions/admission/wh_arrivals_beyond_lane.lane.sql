-- Picks what to admit when there are more unadmitted messages than a call reads (a crowd). Most of them lie in streams
-- that are held or blocked, and must not hide the others.
-- It picks what can start now: messages of streams without a row that the caller has a handler for, messages below the
-- head of their stream, and events that a due stream waits for. New streams with a priority below 0 are left to
-- wh_with_ranked_{lane}: they must not hide the others either. If the lowest message needs admission, the floors cannot
-- pass it; then it also picks that one and those next to it that need admission, but no more than the call has room for
-- (or 50), because a message that is admitted before it is leased is written twice. It looks for a second at most, and
-- for 20 ms if the streams that are due would fill the room. How far it came is noted for other calls
-- (wh_admit_{lane}). They start a little before that, because most late commits are not very late.
-- If it has found nothing to do and has not come to the end, it picks all of the lowest messages, so that there is less
-- to look through: a long transaction may hold the floors back.
-- Locks: none
-- Reads by: wh_{lane}_unadmitted, from where admission continues; streams by primary key.
-- Raises: none
-- Called by: wh_arrivals_{lane}
create or replace function wh_arrivals_beyond_{lane}(c wh_call, p_room int, p_for_all boolean)
returns wh_arrived
language plpgsql stable
as $$
declare
  c_chunk constant int := 2000;
  c_most constant int := 5000;
  c_again constant int := 50;
  c_least constant int := 50;
  v_due int := wh_count_due(c, '{lane}', p_room, c.{lane}_free_from);
  -- Some of those may be locked, or not for the caller. So it looks for at least one, but not for long.
  v_wanted int := greatest(p_room - v_due, 1);
  v_until timestamptz := clock_timestamp() + case when v_due < p_room then interval '1 second' else interval '20 milliseconds' end;
  v_from bigint := greatest(c.{lane}_admit_from - c_again, c.{lane}_floor);
  v_chunk int := c_again + v_wanted;
  v_is_end boolean := false;
  v_seen int;
  v_last bigint;
  v_found wh_arrival[];
  v_others bigint; -- the first that can start, but not at this instance
  v_chunk_others bigint;
  v_starting wh_arrival[] := '{}';
  v_passed_to bigint;
  v_is_lost boolean; -- found nothing to do and did not come to the end
  v_lowest wh_arrival[];
begin
  while v_wanted > cardinality(v_starting) and clock_timestamp() < v_until loop
    select count(*), max(u.sequence_order),
      array_agg((u.message_id, u.stream_key, wh_partition(u.stream_key, c.partition_count), u.sequence_order, u.appends, u.priority)::wh_arrival order by u.sequence_order) filter (where
        (u.s).stream_id is null and (u.priority < 0) is not true and u.is_handled and (p_for_all or u.appends or wh_partition(u.stream_key, c.partition_count) % c.{lane}_instances = c.{lane}_rank)
        or u.sequence_order < (u.s).head
        or u.appends and (u.s).stream_id is not null and (u.s).instance_id is null and (not (u.s).is_blocked or u.sequence_order = (u.s).head)),
      min(u.sequence_order) filter (where (u.s).stream_id is null
        and not (u.is_handled and (p_for_all or u.appends or wh_partition(u.stream_key, c.partition_count) % c.{lane}_instances = c.{lane}_rank)))
    into v_seen, v_last, v_found, v_chunk_others
    from (
      select m.message_id, m.stream_key, m.sequence_order, {is_unappended} as appends, {priority} as priority,
             '{lane}' = 'outbox' or m.{target} <> all(c.inbox_handlers) is not true as is_handled,
             -- Newest version first; see docs/internals/mechanism.md#plans-that-hold
             (select s from wh_active_streams s
              where (s.stream_id, s.lane) between (m.stream_key, '{lane}') and (m.stream_key, '{lane}')
              order by s.stream_id desc, s.lane desc limit 1) as s
      from wh_{lane} m
      where m.partition_number is null and m.processed_at is null and m.sequence_order >= v_from
      order by m.sequence_order
      limit v_chunk
    ) u;
    v_others := coalesce(v_others, v_chunk_others);
    v_starting := v_starting || v_found[:v_wanted - cardinality(v_starting)];
    v_is_end := v_seen < v_chunk;
    exit when v_is_end;
    v_chunk := least(4 * v_chunk, c_chunk);
    v_from := v_last + 1;
  end loop;
  -- Other instances must not skip what only they can start.
  v_passed_to := least(v_others, case when cardinality(v_starting) < v_wanted then v_last + 1 else v_starting[cardinality(v_starting)].sequence_order + 1 end);
  v_is_lost := v_starting = '{}' and v_due = 0 and not v_is_end;
  if v_is_lost or wh_first_needing_{lane}(c.{lane}_floor, {Everything}, 1) is not null then
    v_lowest := array(
      select (m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count), m.sequence_order,
              {is_unappended}, {priority})::wh_arrival
      from wh_{lane} m
      where m.partition_number is null and m.processed_at is null and m.sequence_order >= c.{lane}_floor
      order by m.sequence_order
      limit case when v_is_lost then c_most else greatest(p_room, c_least) end);
    v_starting := array(
      select a::wh_arrival
      from (
        select * from unnest(case when v_is_lost then v_lowest else wh_needing_admission('{lane}', v_lowest) end)
        union
        select * from unnest(v_starting)
      ) a
      order by a.sequence_order);
  end if;
  return row(v_starting, false, true, v_passed_to, false)::wh_arrived;
end
$$;
