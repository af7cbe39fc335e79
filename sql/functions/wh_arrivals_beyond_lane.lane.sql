-- Of a crowd of unadmitted messages: the lowest, all of them, so that the crowd gets smaller; and from behind those, where the
-- streams that are due would not fill the room, what can start now: messages of streams without a row that the caller has
-- a handler for, those below the head of theirs, or events that a due stream waits for. All others lie in streams that are held or blocked, and must not hide these.
-- When nothing can start, there is time to admit more of the crowd.
-- It looks for a second at most. How far it came is noted for other calls (wh_admit_{lane}).
-- Reads by wh_{lane}_unadmitted, from the lane's floor and from where admission goes on; streams by primary key.
create or replace function wh_arrivals_beyond_{lane}(c wh_call, p_room int, p_limit int, p_for_all boolean)
returns wh_arrived
language plpgsql stable
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  c_chunk constant int := 2000;
  c_most constant int := 5000;
  v_due int := wh_count_due(c, '{lane}', p_room, c.{lane}_free_from);
  -- Some of those may be locked, or not to be had: one it looks for all the same, but not for long.
  v_wanted int := greatest(p_room - v_due, 1);
  v_until timestamptz := clock_timestamp() + case when v_due < p_room then interval '1 second' else interval '20 milliseconds' end;
  v_from bigint := c.{lane}_floor;
  v_chunk int := p_limit;
  v_seen int;
  v_last bigint;
  v_found wh_arrival[];
  v_others bigint; -- the first that can start, but not here
  v_chunk_others bigint;
  v_starting wh_arrival[] := '{}';
begin
  while v_wanted > cardinality(v_starting) and clock_timestamp() < v_until loop
    select count(*), max(u.sequence_order),
      array_agg((u.message_id, u.stream_key, u.partition_number, u.sequence_order, u.appends)::wh_arrival order by u.sequence_order) filter (where
        s.stream_id is null and u.is_handled and (p_for_all or u.appends or u.partition_number % c.{lane}_instances = c.{lane}_rank)
        or u.sequence_order < s.head
        or u.appends and s.instance_id is null and (not s.is_blocked or u.sequence_order = s.head)),
      min(u.sequence_order) filter (where s.stream_id is null
        and not (u.is_handled and (p_for_all or u.appends or u.partition_number % c.{lane}_instances = c.{lane}_rank)))
    into v_seen, v_last, v_found, v_chunk_others
    from (
      select m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count) as partition_number, m.sequence_order,
             m.is_event and m.stream_id is not null and m.status & 2 = 0 as appends,
             '{lane}' = 'outbox' or m.{target} <> all(c.inbox_handlers) is not true as is_handled
      from wh_{lane} m
      where m.partition_number is null and m.processed_at is null and m.sequence_order >= v_from
      order by m.sequence_order
      limit v_chunk
    ) u
    left join wh_active_streams s on s.stream_id = u.stream_key and (s.lane = '{lane}') is true;
    v_others := coalesce(v_others, v_chunk_others);
    v_starting := v_starting || v_found[:v_wanted - cardinality(v_starting)];
    exit when v_seen < v_chunk;
    -- What lies between was looked at by others a moment ago.
    v_from := greatest(v_last + 1, c.{lane}_admit_from);
    v_chunk := c_chunk;
  end loop;
  return row(
    array(
      select a::wh_arrival from (
        (select m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count) as partition_number, m.sequence_order,
                m.is_event and m.stream_id is not null and m.status & 2 = 0 as appends
         from wh_{lane} m
         where m.partition_number is null and m.processed_at is null and m.sequence_order >= c.{lane}_floor
         order by m.sequence_order
         limit case when v_starting = '{}' and v_due = 0 then c_most else p_limit end)
        union
        select * from unnest(v_starting)
      ) a order by a.sequence_order),
    false, true,
    -- Others must not pass by what only they can start.
    least(v_others, case when cardinality(v_starting) < v_wanted then v_last + 1 else v_starting[cardinality(v_starting)].sequence_order + 1 end))::wh_arrived;
end
$$;
