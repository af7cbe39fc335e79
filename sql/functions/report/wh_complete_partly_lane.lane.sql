-- Adds the bits of a completion that does not finish these messages and takes the caller's lease off them. They stay
-- live and are handed out again. Status 0 gives the lease back and changes nothing else.
-- Locks: message rows of streams that the call has locked.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_report_{lane}
create or replace function wh_complete_partly_{lane}(c wh_call, p_message_ids uuid[], p_status int)
returns wh_kept
language plpgsql
as $$
declare
  r wh_kept;
begin
  with kept as (
    update wh_{lane} m
    set status = m.status | p_status, instance_id = null, lease_expiry = null
    where m.message_id = any(p_message_ids) and m.instance_id = c.instance_id
    returning m.message_id, m.stream_key
  )
  select array_agg(k.message_id), array_agg(k.stream_key) into r from kept k;
  return r;
end
$$;
