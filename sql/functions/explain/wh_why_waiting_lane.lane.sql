-- Returns why a message has to wait that is the first of its stream to do so, as a code of explain.
-- A limit has a key in its name, or a living instance names it among its limits.
-- Locks: none
-- Reads by: primary key; all instances.
-- Raises: none
-- Called by: wh_why_unreachable_{lane}, wh_would_claim_{lane}
create or replace function wh_why_waiting_{lane}(p_message_id uuid, p_now timestamptz, p_appended uuid[])
returns text
language plpgsql stable
as $$
begin
  return (
    select case when {is_unappended} and m.message_id <> all(p_appended) then 'not-appended'
                when m.sequence_order = {BarOrder} then 'paused'
                when m.scheduled_for > p_now then 'scheduled'
                when m.{target} = any(coalesce((select l.paused from wh_lanes l where l.lane = '{lane}'), '{}')) then 'paused'
                when {waits_at} is not null or exists (select from wh_service_instances i where i.inbox_limits ? m.{target}) then 'at-limit'
                else 'no-handler' end
    from wh_{lane} m
    where m.message_id = p_message_id);
end
$$;
