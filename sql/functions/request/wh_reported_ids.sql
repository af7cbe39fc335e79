-- Returns the ids of all messages of one lane that the call reports on, each once.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_read_request
create or replace function wh_reported_ids(p_completions wh_completion[], p_failures wh_failure[], p_renewed uuid[])
returns uuid[]
language plpgsql immutable
as $$
declare
  v_ids uuid[] := '{}';
  v_group wh_completion;
begin
  if cardinality(p_completions) = 1 and p_failures = '{}' and p_renewed = '{}' then
    return p_completions[1].message_ids;
  end if;
  foreach v_group in array p_completions loop
    v_ids := v_ids || v_group.message_ids;
  end loop;
  if cardinality(p_failures) > 0 or cardinality(p_renewed) > 0 then
    v_ids := array(
      select unnest(v_ids)
      union select f.message_id from unnest(p_failures) f
      union select unnest(p_renewed));
  end if;
  return v_ids;
end
$$;
