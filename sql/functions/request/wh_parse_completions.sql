-- Reads an array of completions and groups it by status (a call has two or three). Equal ids become one, with their
-- bits together. A bad field refuses the whole array.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: wh_read_request
create or replace function wh_parse_completions(p_field text, p_completions jsonb)
returns wh_completion[]
language plpgsql
as $$
declare
  v_one wh_completion := wh_parse_one_completion(p_completions);
  v_groups wh_completion[];
  v_is_bad boolean;
begin
  if v_one.status is not null then
    return array[v_one];
  end if;
  begin
    select array_agg((g.status, g.message_ids)::wh_completion), bool_or(g.is_bad) into v_groups, v_is_bad
    from (
      select r.status, array_agg(r.message_id) as message_ids, bool_or(r.is_bad) as is_bad
      from (
        select c.message_id, bit_or(c.status) as status,
          bool_or(c.message_id is null or c.status is null or c.status < 0
            or jsonb_typeof(c.item -> 'status') <> 'number' or c.item - array['message_id', 'status'] <> '{}') as is_bad
        from rows from (
          jsonb_to_recordset(p_completions) as (message_id uuid, status int), jsonb_array_elements(p_completions)
        ) as c(message_id, status, item)
        group by c.message_id
      ) r
      group by r.status
    ) g;
  exception
    when data_exception then v_is_bad := true;
  end;
  if v_is_bad then
    perform wh_refuse_items(p_field, p_completions, '{"message_id": "uuid!", "status": "status!"}');
  end if;
  return coalesce(v_groups, '{}');
end
$$;
