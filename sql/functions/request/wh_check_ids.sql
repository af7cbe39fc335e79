-- Refuses an array of ids that contains a null. Returns an empty array for an absent one.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: wh_outgoing, wh_read_request, wh_take_answers
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
