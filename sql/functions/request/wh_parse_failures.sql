-- Reads an array of failures and keeps the first of equal ids. A bad field refuses the whole array.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: wh_read_request
create or replace function wh_parse_failures(p_field text, p_failures jsonb)
returns wh_failure[]
language plpgsql
as $$
declare
  v_failures wh_failure[];
  v_is_bad boolean;
begin
  begin
    select array_agg((f.message_id, f.completed_status, f.error, f.retry_after_seconds, f.dead_letter, f.attempt, f.counted)::wh_failure), bool_or(f.is_bad)
    into v_failures, v_is_bad
    from (
      select distinct on (r.message_id)
        r.message_id, coalesce(r.completed_status, 0) as completed_status, r.error, r.retry_after_seconds, r.dead_letter, r.attempt, r.counted,
        r.message_id is null or r.attempt < 1 or r.completed_status < 0
          or r.completed_status is not null and jsonb_typeof(r.item -> 'completed_status') <> 'number'
          or r.error is not null and jsonb_typeof(r.item -> 'error') <> 'string'
          or r.retry_after_seconds is not null and jsonb_typeof(r.item -> 'retry_after_seconds') <> 'number'
          or r.dead_letter is not null and jsonb_typeof(r.item -> 'dead_letter') <> 'boolean'
          or r.attempt is not null and jsonb_typeof(r.item -> 'attempt') <> 'number'
          or r.counted is not null and jsonb_typeof(r.item -> 'counted') <> 'boolean'
          or r.item - array['message_id', 'completed_status', 'error', 'retry_after_seconds', 'dead_letter', 'attempt', 'counted'] <> '{}' as is_bad
      from rows from (
        jsonb_to_recordset(p_failures) as (
          message_id uuid, completed_status int, error text, retry_after_seconds double precision, dead_letter boolean, attempt int, counted boolean),
        jsonb_array_elements(p_failures)
      ) with ordinality as r(message_id, completed_status, error, retry_after_seconds, dead_letter, attempt, counted, item, ord)
      order by r.message_id, r.ord
    ) f;
  exception
    when data_exception then v_is_bad := true;
  end;
  if v_is_bad then
    perform wh_refuse_items(p_field, p_failures,
      '{"message_id": "uuid!", "completed_status": "status", "error": "text", "retry_after_seconds": "number", "dead_letter": "boolean", "attempt": "count", "counted": "boolean"}');
  end if;
  return coalesce(v_failures, '{}');
end
$$;
