-- Tells what a call that polls would do before it claims: which events it would append, and which streams of each lane
-- it would open or make due, as their rows would be then.
-- A version row that somebody has locked defers the events of its stream. One that somebody is inserting is not
-- visible: if an earlier call has left the stream without one, and a transaction that writes there is open, it is that.
-- Locks: none
-- Reads by: as wh_arrivals_{lane}, wh_with_own_events and wh_admissible_{lane}; primary keys.
-- Raises: none
-- Called by: wh_explain_instances_{lane}
create or replace function wh_would_admit(
  c wh_call, p_outbox_room int, p_inbox_room int, out appended uuid[], out outbox wh_active_streams[], out inbox wh_active_streams[]
)
language plpgsql stable
as $$
declare
  v_arrived wh_arrived;
  v_outbox wh_arrival[] := '{}';
  v_inbox wh_arrival[] := '{}';
  v_streams wh_open_stream[];
  v_outbox_admitted wh_arrival[];
  v_inbox_admitted wh_arrival[];
  v_deferred uuid[];
begin
  if c.outbox_arrived then
    v_arrived := wh_arrivals_outbox(c, p_outbox_room, true);
    v_outbox := v_arrived.arrivals;
    c.outbox_all_seen := v_arrived.all_seen;
  end if;
  if c.inbox_arrived then
    v_arrived := wh_arrivals_inbox(c, p_inbox_room, true);
    v_inbox := v_arrived.arrivals;
    c.inbox_all_seen := v_arrived.all_seen;
  end if;
  if p_outbox_room > 0 and v_outbox <> '{}' then
    v_inbox := wh_with_own_events(c, '{}', v_outbox, v_inbox);
  end if;
  v_streams := array(
    select (a.lane, a.stream_key, false, false, null, null, null)::wh_open_stream
    from (select 'outbox' as lane, o.stream_key from unnest(v_outbox) o union select 'inbox', n.stream_key from unnest(v_inbox) n) a);
  v_outbox_admitted := wh_admissible_outbox(c, v_outbox, v_streams);
  v_inbox_admitted := wh_admissible_inbox(c, v_inbox, v_streams);
  if v_outbox_admitted <> '{}' then
    v_outbox_admitted := wh_pick_after_own_events(c, v_outbox_admitted, v_inbox_admitted);
  end if;
  v_deferred := wh_would_defer(array(select distinct a.stream_key from unnest(v_outbox_admitted || v_inbox_admitted) a where a.appends));
  if v_deferred <> '{}' then
    v_streams := array(select s::wh_open_stream from unnest(v_streams) s where s.stream_id <> all(v_deferred));
    v_outbox_admitted := wh_admissible_outbox(c, v_outbox_admitted, v_streams);
    v_inbox_admitted := wh_admissible_inbox(c, v_inbox_admitted, v_streams);
  end if;
  appended := array(select a.message_id from unnest(v_outbox_admitted || v_inbox_admitted) a where a.appends);
  outbox := wh_would_open(c, 'outbox', c.outbox_floor, v_outbox, v_outbox_admitted);
  inbox := wh_would_open(c, 'inbox', c.inbox_floor, v_inbox, v_inbox_admitted);
end
$$;
