-- The ids to renew, each once, without those that the same call completes or fails. Raises WB001.
create or replace function wh_parse_renewals(p_field text, p_ids uuid[], p_reported uuid[])
returns uuid[]
language plpgsql
as $$
begin
  if coalesce(cardinality(p_ids), 0) = 0 then
    return '{}';
  end if;
  if array_position(p_ids, null) is not null then
    perform wh_refuse(format('%s[%s]', p_field, array_position(p_ids, null) - 1), 'is null, a value is needed');
  end if;
  return array(select unnest(p_ids) except select unnest(p_reported));
end
$$;
