-- The partitions in which the instance holds a live lease. Read only when there is a cap on them.
create or replace function wh_held_partitions(c wh_call)
returns int[]
language plpgsql stable
as $$
begin
  return (
    select coalesce(array_agg(distinct s.partition_number), '{}')
    from wh_active_streams s
    where s.lane = any(array['outbox', 'inbox'])
      and s.instance_id is not null
      and s.lease_expiry > c.now
      and s.instance_id = c.instance_id
  );
end
$$;
