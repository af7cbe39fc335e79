-- Reads an array of completions as two parallel arrays; equal ids are one, their bits together.
-- Refuses it whole when a field is bad. Touches no table. Raises WB001.
create or replace function wh_parse_completions(
  p_field text, p_completions jsonb, out message_ids uuid[], out statuses int[]
)
language plpgsql
as $$
declare
  v_is_bad boolean;
begin
  begin
    select array_agg(r.message_id), array_agg(r.status), bool_or(r.is_bad) into message_ids, statuses, v_is_bad
    from (
      select c.message_id, bit_or(c.status) as status, bool_or(c.message_id is null or c.status is null or c.status < 0) as is_bad
      from jsonb_to_recordset(p_completions) as c(message_id uuid, status int)
      group by c.message_id
    ) r;
    v_is_bad := v_is_bad
      or (select bool_or(e.value - array['message_id', 'status'] <> '{}') from jsonb_array_elements(p_completions) e);
  exception
    when data_exception then v_is_bad := true;
  end;
  if v_is_bad then
    perform wh_refuse_items(p_field, p_completions, '{"message_id": "uuid!", "status": "status!"}');
  end if;
  message_ids := coalesce(message_ids, '{}');
  statuses := coalesce(statuses, '{}');
end
$$;
