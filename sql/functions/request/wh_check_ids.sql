-- Refuses an array of ids with a null among them; an absent array is an empty one. Raises WB001.
create or replace function wh_check_ids(p_field text, p_ids uuid[])
returns uuid[]
language plpgsql immutable
as $$
begin
  if array_position(p_ids, null) is not null then
    perform wh_refuse(format('%s[%s]', p_field, array_position(p_ids, null) - 1), 'is null, a value is needed');
  end if;
  return coalesce(p_ids, '{}');
end
$$;
