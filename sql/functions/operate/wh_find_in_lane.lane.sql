-- Returns a message of this lane and its state, or no row. The first unfinished message of its stream decides with it.
-- Locks: none
-- Reads by: primary key; the first message by wh_{lane}_stream; all instances.
-- Raises: none
-- Called by: wh_find_message
create or replace function wh_find_in_{lane}(p_message_id uuid)
returns setof wh_found_message
language plpgsql stable
as $$
begin
  return query
  select m.message_id,
    case
      when m.processed_at is not null then 'finished'
      when m.status & {GivenUp} <> 0 then 'givingUp'
      when m.instance_id is not null and m.lease_expiry > clock_timestamp() then 'running'
      when '{lane}' = 'inbox' and {intake_is_paused}
        or exists (select from wh_pauses p where p.kind = 'stream' and p.name = m.stream_key::text) then 'paused'
      when m.scheduled_for > clock_timestamp() and m.attempts > 0 then 'retrying'
      when m.scheduled_for > clock_timestamp() then 'scheduled'
      when f.message_id <> m.message_id and (f.scheduled_for > clock_timestamp() or f.status & {GivenUp} <> 0) then 'blocked'
      when h.state = 'no-handler' then 'unhandled'
      else coalesce(nullif(h.state, 'due'), 'waiting')
    end,
    '{lane}', m.event_type, m.event_data, m.scope, m.stream_id, m.attempts, m.error, m.{stored_at},
    case when m.processed_at is null and m.scheduled_for > clock_timestamp() then m.scheduled_for end,
    case when m.lease_expiry > clock_timestamp() then m.instance_id end,
    case when f.message_id <> m.message_id and m.processed_at is null then f.message_id end,
    m.failures
  from wh_{lane} m
  left join lateral (
    select f.message_id, f.scheduled_for, f.status
    from wh_{lane} f
    where f.stream_key = m.stream_key and f.processed_at is null and f.status <> {Bar}
    order by f.sequence_order
    limit 1
  ) f on true
  left join lateral (
    select {state_of_waiting} as state
    from wh_active_streams s
    where s.stream_id = m.stream_key and s.lane = '{lane}' and s.waits_for is not null
  ) h on true
  where m.message_id = p_message_id and m.status <> {Bar};
end
$$;
