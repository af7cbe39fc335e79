-- Returns those of the streams in which the caller would lease new messages that have something else unfinished.
-- A caller that continues may have unfinished messages of its own in the stream, as long as the stream's row need not
-- be written. If every new message renewed the row's lease, a message that the caller has forgotten would never be
-- handed out again.
-- In a fresh stream only plain inserts that no call has admitted can be unfinished. There are few, so it reads those;
-- only if there are many it looks into the fresh streams one by one.
-- Locks: none
-- Reads by: wh_{lane}_stream, from the stream's head or the first unadmitted message; wh_{lane}_unadmitted from the
--   lane's floor.
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_streams_with_other_work_{lane}(c wh_call, p_streams wh_open_stream[], p_has_known boolean)
returns uuid[]
language plpgsql stable
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  c_few constant int := 200;
  v_dirty uuid[] := '{}';
  v_unadmitted uuid[];
begin
  if p_has_known then
    v_dirty := array(
      select s.stream_id
      from unnest(p_streams) s
      -- A lateral join with a limit stays one probe per row; an exists may become a join over the whole table.
      cross join lateral (
        select 1 from wh_{lane} m
        where m.stream_key = s.stream_id and {from_first_unfinished}
          and not ('{lane}' = 'inbox' and c.continues is true and s.lease_expiry >= c.fresh_from and s.held_through = {Everything}
            and m.instance_id is not distinct from c.instance_id and m.lease_expiry > c.now)
        limit 1
      ) f
      where s.lane = '{lane}' and s.held and not s.fresh
    );
  end if;
  v_unadmitted := array(
    select m.stream_key from wh_{lane} m
    where m.partition_number is null and m.processed_at is null and m.sequence_order >= c.{lane}_floor
    order by m.sequence_order
    limit c_few
  );
  if cardinality(v_unadmitted) = c_few then
    v_unadmitted := array(
      select s.stream_id
      from unnest(p_streams) s
      cross join lateral (
        select 1 from wh_{lane} m
        where m.stream_key = s.stream_id and m.sequence_order >= c.{lane}_floor and m.processed_at is null
        limit 1
      ) f
      where s.lane = '{lane}' and s.held and s.fresh
    );
  end if;
  return v_dirty || v_unadmitted;
end
$$;
