-- Returns those of these event streams that have an unappended event which is not among this call's arrivals. An event
-- that is appended now would overtake it.
-- It looks before the last arrival of the stream, or, with p_after, anywhere in the stream.
-- Locks: none
-- Reads by: wh_{lane}_stream, from the lane's floor.
-- Raises: none
-- Called by: wh_admissible_{lane}, wh_events_out_of_turn_{lane}, wh_pick_after_own_events, wh_try_store
create or replace function wh_unappended_streams_{lane}(c wh_call, p_stream_ids uuid[], p_arrivals wh_arrival[], p_after boolean)
returns uuid[]
language plpgsql stable
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_orders bigint[] := array(select a.sequence_order from unnest(p_arrivals) a where a.appends);
begin
  return array(
    select k.stream_id
    from unnest(p_stream_ids) as k(stream_id)
    cross join lateral (
      select max(a.sequence_order) as sequence_order from unnest(p_arrivals) a where a.appends and a.stream_key = k.stream_id and not p_after
    ) l
    -- A lateral join with a limit stays one probe per row; an exists may become a join over the whole table.
    cross join lateral (
      select 1 from wh_{lane} m
      where m.stream_key = k.stream_id and m.sequence_order >= c.{lane}_floor and m.processed_at is null
        -- "is true" keeps the planner from reading the index of unadmitted messages.
        and (m.partition_number is null) is true and m.is_event and m.status & {EventStored} = 0
        and (p_after or m.sequence_order < l.sequence_order)
        and m.sequence_order <> all(v_orders)
      limit 1
    ) f
  );
end
$$;
