-- Returns the aggregate type of an event type: its last name without the suffix Event. shop.OrderPlacedEvent gives
-- OrderPlaced.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_append_events
create or replace function wh_aggregate_type(p_event_type text)
returns text
language sql immutable parallel safe
as $$
  select regexp_replace(regexp_replace(p_event_type, '^.*[./+:]', ''), '(.)Event$', '\1')
$$;
