-- Makes the record of a call without room, for the short path (wh_settle_one) where it goes on with a step of the long
-- path.
-- Its caller has a transaction id by then (see wh_stamp_call).
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_bury_{lane}, wh_cancel_{lane}, wh_resume_stream_{lane}, wh_settle_one, wh_store_aside
create or replace function wh_roomless_call(p_instance_id uuid)
returns wh_call
language plpgsql
as $$
declare
  c wh_call;
begin
  c.instance_id := p_instance_id;
  c.now := clock_timestamp();
  select coalesce(min(l.admitted_below) filter (where l.lane = 'outbox'), 0), coalesce(min(l.admitted_below) filter (where l.lane = 'inbox'), 0)
  into c.outbox_floor, c.inbox_floor
  from wh_lanes l
  where l.lane = any(array['outbox', 'inbox']);
  return c;
end
$$;
