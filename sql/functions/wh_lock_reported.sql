-- Locks the streams that the caller reports on, in one order for all callers, and tells which of them it
-- still holds. From here to the end of the call nobody else changes a lease in them.
-- Locks: stream rows by (stream_id, lane), waiting. Waits only for calls that are past their own waits, or for
-- a call of the same instance. It modifies nothing, so that wh_open_streams of others does not wait for it.
create or replace function wh_lock_reported(p_instance_id uuid, p_outbox_streams uuid[], p_inbox_streams uuid[])
returns wh_held
language plpgsql
as $$
declare
  r wh_held;
begin
  with locked as (
    select s.stream_id, s.lane, s.instance_id
    from wh_active_streams s
    where s.stream_id = any(p_outbox_streams || p_inbox_streams)
      and s.lane = any(array['outbox', 'inbox'])
      and (s.lane = 'inbox' or cardinality(p_inbox_streams) = 0 or s.stream_id = any(p_outbox_streams))
      and (s.lane = 'outbox' or cardinality(p_outbox_streams) = 0 or s.stream_id = any(p_inbox_streams))
    order by s.stream_id, s.lane
    for no key update
  )
  select array_agg(l.stream_id) filter (where l.lane = 'outbox' and l.instance_id = p_instance_id),
         array_agg(l.stream_id) filter (where l.lane = 'inbox' and l.instance_id = p_instance_id)
  into r
  from locked l;
  return r;
end
$$;
