-- Extends the caller's lease on these messages and on their streams. Returns the messages that it holds.
-- Locks: message rows and stream rows; the call has locked the streams.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_renew_after_wait, wh_report_{lane}
create or replace function wh_renew_{lane}(c wh_call, p_message_ids uuid[])
returns uuid[]
language plpgsql
as $$
declare
  r wh_kept;
begin
  with renewed as (
    update wh_{lane} m
    set lease_expiry = greatest(m.lease_expiry, c.lease_expiry)
    where m.message_id = any(p_message_ids) and m.instance_id = c.instance_id
    returning m.message_id, m.stream_key
  )
  select array_agg(n.message_id), array_agg(distinct n.stream_key) into r from renewed n;
  update wh_active_streams s
  set lease_expiry = greatest(s.lease_expiry, c.lease_expiry)
  -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
  -- See docs/internals/mechanism.md#plans-that-hold
  where s.stream_id = any(r.stream_ids) and (s.lane = '{lane}') is true;
  return coalesce(r.message_ids, '{}');
end
$$;
