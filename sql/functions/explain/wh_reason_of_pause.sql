-- Makes the reason of a message that an operator has paused, with its stream, its type, or the whole intake.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_reason_of_{lane}
create or replace function wh_reason_of_pause(p_stream_id uuid, p_type text, p_facts jsonb)
returns wh_reason
language plpgsql stable
as $$
declare
  p wh_pauses;
begin
  select * into p from wh_pauses x
  where x.kind = 'intake' or x.kind = 'type' and x.name = p_type or x.kind = 'stream' and x.name = p_stream_id::text
  order by array_position(array['intake', 'type', 'stream'], x.kind)
  limit 1;
  return row('paused', true,
    format('%s is paused by %s%s.', case p.kind when 'intake' then 'All that the service handles' when 'type' then 'The type ' || p.name else 'Its stream' end,
      coalesce(p.who, 'somebody'), coalesce(': ' || p.reason, '')),
    p.since, null, p_facts || jsonb_strip_nulls(jsonb_build_object('kind', p.kind, 'name', nullif(p.name, ''), 'who', p.who)),
    'To go on: ' || wh_command('resume', p.kind, p.name))::wh_reason;
end
$$;
