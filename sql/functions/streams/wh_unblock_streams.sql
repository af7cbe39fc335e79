-- Makes up to p_room blocked streams of a lane due, if their time has come and the caller may take them. From then on
-- they wait in one order with all others.
-- If one of them has a priority, it makes up to 1000 due at once, so that it need not wait behind the others.
-- available_at stays, so the grace period of their owners counts from the time that they waited for.
-- Locks: stream rows, skip locked; it never waits.
-- Reads by: wh_active_streams_blocked, from the lane's floor.
-- Raises: none
-- Called by: wh_lock_due_streams
create or replace function wh_unblock_streams(
  c wh_call, p_lane text, p_room int, p_free_from timestamptz, p_spare int, p_instances int, p_rank int, p_capped_to int[], p_is_ranked boolean
)
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_stream_ids uuid[] := array(
    select s.stream_id
    from wh_active_streams s
    where {stream_is_ripe}
    order by s.available_at
    limit case when p_is_ranked then greatest(p_room, 1000) else p_room end
    for no key update skip locked
  );
begin
  if v_stream_ids <> '{}' then
    update wh_active_streams s set is_blocked = false where s.stream_id = any(v_stream_ids) and s.lane = p_lane;
  end if;
end
$$;
