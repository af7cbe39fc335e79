-- Refuses the call: SQLSTATE WB001, the error's column field names the offending field.
create or replace function wh_refuse(p_field text, p_problem text)
returns void
language plpgsql
as $$
begin
  raise exception using
    errcode = 'WB001',
    message = format('process_work_batch: %s %s', p_field, p_problem),
    column = p_field,
    hint = 'Nothing was changed. Correct the field and send the call again.';
end
$$;
