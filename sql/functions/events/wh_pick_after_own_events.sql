-- Returns these outbox arrivals without the streams that have, in the inbox, an event that is not in the event store
-- and that this call does not append now. Events that this schema sends to itself come first (wh_route).
-- Locks: none
-- Reads by: as wh_unappended_streams_{lane}, for the inbox.
-- Raises: none
-- Called by: wh_try_store, wh_would_admit
create or replace function wh_pick_after_own_events(c wh_call, p_outbox_arrivals wh_arrival[], p_inbox_admitted wh_arrival[])
returns wh_arrival[]
language plpgsql stable
as $$
declare
  v_streams uuid[] := array(select distinct a.stream_key from unnest(p_outbox_arrivals) a where a.appends);
  v_behind uuid[];
begin
  if v_streams = '{}' then
    return p_outbox_arrivals;
  end if;
  v_behind := wh_unappended_streams_inbox(c, v_streams, p_inbox_admitted, true);
  if v_behind = '{}' then
    return p_outbox_arrivals;
  end if;
  return array(select a::wh_arrival from unnest(p_outbox_arrivals) a where a.stream_key <> all(v_behind) order by a.sequence_order);
end
$$;
