-- Reads everything that a call says about one lane; mostly there is nothing.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: process_work_batch
create or replace function wh_read_request(
  p_lane text, p_target text, p_messages jsonb, p_completions jsonb, p_failures jsonb, p_renewed uuid[], p_partition_count int
)
returns wh_request
language plpgsql
as $$
declare
  r wh_request := row('{}', false, false, '{}', '{}', '{}', '{}', false, false, false);
  v_parsed wh_parsed;
begin
  if p_messages is not null then
    v_parsed := wh_parse_messages('p_new_' || p_lane || '_messages', p_target, p_messages, p_partition_count);
    r.messages := v_parsed.messages;
    r.has_events := v_parsed.has_events;
    r.has_scheduled := v_parsed.has_scheduled;
    r.has_conditions := v_parsed.has_conditions;
    r.has_ranked := v_parsed.has_ranked;
    r.has_late := v_parsed.has_late;
  end if;
  if p_completions is not null then
    r.completions := wh_parse_completions('p_' || p_lane || '_completions', p_completions);
  end if;
  if p_failures is not null then
    r.failures := wh_parse_failures('p_' || p_lane || '_failures', p_failures);
  end if;
  if p_renewed is not null then
    r.renewed := wh_check_ids('p_renew_' || p_lane || '_lease_ids', p_renewed);
  end if;
  if num_nonnulls(p_completions, p_failures, p_renewed) > 0 then
    r.reported := wh_reported_ids(r.completions, r.failures, r.renewed);
  end if;
  return r;
end
$$;
