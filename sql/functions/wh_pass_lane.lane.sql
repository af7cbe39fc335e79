-- Notes, for a second, that admission goes on behind these arrivals: all of them belong to streams that somebody has
-- locked, and a crowd of them must not hold up the arrivals of other streams.
-- Locks: the lane's row of wh_admission, skip locked. Reads by wh_{lane}_unadmitted up to the first message of another stream.
create or replace function wh_pass_{lane}(c wh_call, p_arrivals wh_arrival[])
returns void
language plpgsql
as $$
declare
  v_locked uuid[] := array(select distinct a.stream_key from unnest(p_arrivals) a);
  v_next bigint;
begin
  select m.sequence_order into v_next
  from wh_{lane} m
  where m.partition_number is null and m.processed_at is null
    and m.sequence_order > p_arrivals[1].sequence_order
    and m.stream_key <> all(v_locked)
  order by m.sequence_order
  limit 1;
  update wh_admission a
  set admit_from = v_next, until = c.now + interval '1 second'
  where v_next is not null
    and a.lane = (select o.lane from wh_admission o where o.lane = '{lane}' for no key update skip locked);
end
$$;
