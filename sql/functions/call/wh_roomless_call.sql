-- What the steps of the long way need to know of a call without room, where the short way (wh_settle_one) goes on by one of them.
-- Its caller has a transaction id by then (see wh_take_time). Reads the lanes.
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
