-- Refuses an array of names with a null among them. Touches no table. Raises WB001.
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
