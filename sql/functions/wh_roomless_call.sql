-- What the steps of the long way need to know of a call without room, where the short way (wh_settle_one) goes on by one of them.
-- Its caller has a transaction id by then (see wh_take_time). Reads the lanes.
create or replace function wh_roomless_call(p_instance_id uuid)
returns wh_call
language plpgsql
as $$
declare
  c wh_call;
begin
  select p_instance_id, clock_timestamp(), o.admitted_below, n.admitted_below into c.instance_id, c.now, c.outbox_floor, c.inbox_floor
  from wh_lanes o, wh_lanes n
  where o.lane = 'outbox' and n.lane = 'inbox';
  return c;
end
$$;
