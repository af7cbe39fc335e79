-- Returns the streams of which something waits in the outbox: those of the given ones that have a row there, and those
-- of unadmitted messages. What is sent to this service must not overtake it.
-- The result may contain streams that were not asked for.
-- Locks: none
-- Reads by: streams by primary key; wh_outbox_unadmitted from the lane's floor, or wh_outbox_stream if much is
--   unadmitted.
-- Raises: none
-- Called by: wh_route
create or replace function wh_waiting_in_outbox(p_stream_ids uuid[])
returns uuid[]
language plpgsql stable
as $$
declare
  c_few constant int := 200;
  v_floor bigint := coalesce((select l.admitted_below from wh_lanes l where l.lane = 'outbox'), 0);
  v_open uuid[];
  v_unadmitted uuid[];
begin
  if p_stream_ids = '{}' then
    return '{}';
  end if;
  v_open := array(
    -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
    -- See docs/internals/mechanism.md#plans-that-hold
    select s.stream_id from wh_active_streams s where s.stream_id = any(p_stream_ids) and (s.lane = 'outbox') is true);
  v_unadmitted := array(
    select m.stream_key from wh_outbox m
    where m.partition_number is null and m.processed_at is null and m.sequence_order >= v_floor
    order by m.sequence_order
    limit c_few);
  if cardinality(v_unadmitted) = c_few then
    v_unadmitted := array(
      select k.stream_id
      from unnest(p_stream_ids) as k(stream_id)
      -- A lateral join with a limit stays one probe per row; an exists may become a join over the whole table.
      cross join lateral (
        select from wh_outbox m
        where m.stream_key = k.stream_id and m.sequence_order >= v_floor and m.processed_at is null
        limit 1
      ) f);
  end if;
  return v_open || v_unadmitted;
end
$$;
