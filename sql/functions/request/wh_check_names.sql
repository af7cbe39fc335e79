-- Refuses an array of names that contains a null. Returns the array.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: process_work_batch, wh_look_for_perspectives, wh_subscribe
create or replace function wh_check_names(p_field text, p_names text[])
returns text[]
language plpgsql immutable
as $$
begin
  if array_position(p_names, null) is not null then
    perform wh_refuse(format('%s[%s]', p_field, array_position(p_names, null) - 1), 'is null, a value is needed');
  end if;
  return p_names;
end
$$;
