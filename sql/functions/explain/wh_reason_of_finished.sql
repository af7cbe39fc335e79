-- Makes the reason of a message that is finished and kept (DebugMode).
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_explain_{lane}
create or replace function wh_reason_of_finished(p_lane text, p_status int, p_processed_at timestamptz, p_facts jsonb)
returns wh_reason
language plpgsql stable
as $$
begin
  if p_lane = 'outbox' and p_status & {Published} <> 0 then
    return row('left-us', false, format('It was published to %s and is kept by DebugMode.', p_facts ->> 'target'), p_processed_at, null, p_facts,
      'Ask the service that receives it: whizbang explain, with its schema.')::wh_reason;
  end if;
  return row('finished', false, 'It is finished and is kept by DebugMode.', p_processed_at, null, p_facts, null)::wh_reason;
end
$$;
