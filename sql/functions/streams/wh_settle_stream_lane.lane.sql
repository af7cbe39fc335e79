-- Settles one stream that the caller holds and has locked, in the two common cases. Nothing is left: the row is
-- deleted. The caller holds the next message: the row stays untouched.
-- Returns false if the stream has to be freed, or if the order may be broken by what was finished (p_orders, the
-- places of those messages): wh_settle_{lane} does the one and looks closer at the other. It takes a quarter of the
-- time of wh_settle_{lane}, which explains why the look comes after the lock, in a statement of its own.
-- Locks: none; the call has locked the stream.
-- Reads by: primary key, also of wh_lanes; the first entry of wh_{lane}_unadmitted from the lane's floor; messages by
--   wh_{lane}_stream, from the stream's head or the first unadmitted message.
-- Raises: none
-- Called by: wh_settle_one, wh_settle_{lane}
create or replace function wh_settle_stream_{lane}(p_instance_id uuid, p_stream_id uuid, p_orders bigint[])
returns boolean
language plpgsql
as $$
declare
  v_head bigint;
  v_first bigint;
  v_is_held boolean;
begin
  select s.head, f.sequence_order, f.instance_id = p_instance_id and f.lease_expiry > clock_timestamp()
  into v_head, v_first, v_is_held
  from wh_active_streams s
  left join lateral (
    select m.sequence_order, m.instance_id, m.lease_expiry
    from wh_{lane} m
    where m.stream_key = p_stream_id and m.processed_at is null
      and m.sequence_order >= least(s.head, (
        select u.sequence_order from wh_{lane} u
        where u.partition_number is null and u.processed_at is null
          and u.sequence_order >= (select l.admitted_below from wh_lanes l where l.lane = '{lane}')
        order by u.sequence_order
        limit 1))
    order by m.sequence_order
    limit 1
  ) f on true
  where s.stream_id = p_stream_id and s.lane = '{lane}';
  if v_head > any(p_orders) or v_first < any(p_orders) then
    return false;
  end if;
  if v_first is null then
    delete from wh_active_streams s where s.stream_id = p_stream_id and s.lane = '{lane}';
    return true;
  end if;
  return v_is_held is true;
end
$$;
