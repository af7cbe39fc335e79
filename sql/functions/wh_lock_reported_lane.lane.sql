-- Locks the streams of those of these messages that the caller holds, in the order of their ids, and returns them.
-- From here to the end of the call nobody else changes a lease in them.
-- Locks: stream rows by stream_id, waiting; the outbox's before the inbox's. It waits only for calls that are past
-- their own waits, or for a call of the same instance. It modifies nothing: others who open streams do not wait for it.
-- Reads by primary key.
create or replace function wh_lock_reported_{lane}(p_instance_id uuid, p_message_ids uuid[])
returns uuid[]
language plpgsql
as $$
declare
  v_held uuid[];
begin
  if p_message_ids <> '{}' then
    select array_agg(l.stream_id) filter (where l.instance_id = p_instance_id) into v_held
    from (
      select s.stream_id, s.instance_id
      from wh_active_streams s
      where s.stream_id = any(array(
          select m.stream_key from wh_{lane} m where m.message_id = any(p_message_ids) and m.instance_id = p_instance_id))
        and s.lane = '{lane}'
      order by s.stream_id
      for no key update
    ) l;
  end if;
  return coalesce(v_held, '{}');
end
$$;
