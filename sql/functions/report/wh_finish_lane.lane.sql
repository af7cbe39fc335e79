-- Finishes those of these messages that the caller holds and that this completion makes done. They leave the table, or
-- stay with processed_at under DebugMode. Returns their ids.
-- Locks: message rows of streams that the call has locked.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_report_{lane}
create or replace function wh_finish_{lane}(c wh_call, p_message_ids uuid[], p_status int)
returns uuid[]
language plpgsql
as $$
declare
  v_done uuid[];
begin
  if p_status = 0 then
    return '{}';
  end if;
  if c.keeps_completed then
    with done as (
      update wh_{lane} m
      set status = m.status | p_status, processed_at = c.now, instance_id = null, lease_expiry = null
      where m.message_id = any(p_message_ids) and m.instance_id = c.instance_id
        and wh_is_done_{lane}(m.status, p_status)
      returning m.message_id
    )
    select array_agg(d.message_id) into v_done from done d;
  else
    with done as (
      delete from wh_{lane} m
      where m.message_id = any(p_message_ids) and m.instance_id = c.instance_id
        and wh_is_done_{lane}(m.status, p_status)
      returning m.message_id
    )
    select array_agg(d.message_id) into v_done from done d;
  end if;
  return coalesce(v_done, '{}');
end
$$;
