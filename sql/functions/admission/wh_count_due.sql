-- Counts the due streams of a lane that the caller may take, up to p_most. The conditions are those of
-- wh_lock_due_streams.
-- Locks: none
-- Reads by: wh_active_streams_free, from the lane's floor.
-- Raises: none
-- Called by: wh_arrivals_beyond_{lane}
create or replace function wh_count_due(c wh_call, p_lane text, p_most int, p_free_from timestamptz)
returns int
language plpgsql stable
as $$
declare
  v_rank int := case p_lane when 'outbox' then c.outbox_rank else c.inbox_rank end;
  v_instances int := case p_lane when 'outbox' then c.outbox_instances else c.inbox_instances end;
  v_spare int := case p_lane when 'outbox' then c.outbox_spare else c.inbox_spare end;
begin
  return (
    select count(*)
    from (
      select 1
      from wh_active_streams s
      where s.lane = p_lane and s.instance_id is null and s.waits_for is null and not s.is_blocked and s.priority is null
        and s.available_at >= p_free_from
        and (v_spare > 0
             or s.partition_number % v_instances = v_rank
             or s.available_at <= clock_timestamp() - make_interval(secs => c.takeover_seconds::double precision))
      order by s.available_at
      limit p_most
    ) d
  );
end
$$;
