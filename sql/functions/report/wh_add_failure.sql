-- Adds a failure to a message's history. The history keeps the first failure, which often names the cause, and the last
-- nine.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_dead_letter_{lane}, wh_retry_{lane}
create or replace function wh_add_failure(p_failures jsonb, c wh_call, p_attempt int, p_error text)
returns jsonb
language plpgsql stable
as $$
declare
  v_failure jsonb := jsonb_build_object('at', c.now, 'attempt', p_attempt, 'instance_id', c.instance_id, 'error', p_error);
begin
  if p_failures is null then
    return jsonb_build_array(v_failure);
  end if;
  return case when jsonb_array_length(p_failures) >= 10 then p_failures - 1 else p_failures end || v_failure;
end
$$;
