-- Locks the streams of those of these messages that the caller holds, and returns them. From here to the end of the
-- call no other call changes a lease in them.
-- It modifies nothing, so calls that open streams do not wait for it.
-- Locks: stream rows by stream_id, outbox before inbox. It waits only for calls that are past their own waits, or for
--   a call of the same instance.
-- Reads by: primary key.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_lock_reported_{lane}(c wh_call, p_message_ids uuid[])
returns wh_open_stream[]
language plpgsql
as $$
declare
  v_held wh_open_stream[];
begin
  if cardinality(p_message_ids) = 1 then
    -- The same for one message, in half the time.
    select case when s.instance_id = c.instance_id
      then array[(s.lane, s.stream_id, false, s.lease_expiry > c.now, s.lease_expiry, s.head, s.held_through)::wh_open_stream] end
    into v_held
    from wh_active_streams s
    where s.stream_id = (select m.stream_key from wh_{lane} m where m.message_id = p_message_ids[1] and m.instance_id = c.instance_id)
      and s.lane = '{lane}'
    for no key update;
  elsif p_message_ids <> '{}' then
    select array_agg((l.lane, l.stream_id, false, l.lease_expiry > c.now, l.lease_expiry, l.head, l.held_through)::wh_open_stream)
           filter (where l.instance_id = c.instance_id)
    into v_held
    from (
      select s.*
      from (
        select distinct m.stream_key as stream_id
        from wh_{lane} m
        where m.message_id = any(p_message_ids) and m.instance_id = c.instance_id
        order by m.stream_key
      ) k
      -- Newest version first; see docs/internals/mechanism.md#plans-that-hold
      cross join lateral (
        select s.lane, s.stream_id, s.instance_id, s.lease_expiry, s.head, s.held_through
        from wh_active_streams s
        where (s.stream_id, s.lane) between (k.stream_id, '{lane}') and (k.stream_id, '{lane}')
        order by s.stream_id desc, s.lane desc
        limit 1
        for no key update
      ) s
    ) l;
  end if;
  return coalesce(v_held, '{}');
end
$$;
