-- Writes down what an operator has done, and to what; p_before: how it was. Returns who did it: p_who, or the role and
-- the application of the session.
-- Locks: the new row.
-- Reads by: no table
-- Raises: none
-- Called by: wh_cancel_message, wh_give_up, wh_note_letters, wh_pause, wh_release_instance, wh_release_stream,
--   wh_resume, wh_retry_now
create or replace function wh_note_operation(p_who text, p_operation text, p_target text, p_before jsonb)
returns text
language plpgsql
as $$
declare
  v_who text := coalesce(nullif(trim(p_who), ''), concat_ws(' ', session_user, nullif(current_setting('application_name'), '')));
begin
  insert into wh_operations (who, operation, target, before) values (v_who, p_operation, p_target, p_before);
  return v_who;
end
$$;
