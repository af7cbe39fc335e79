-- Tells for each living instance whether a call that it made now would take a message of this lane that is not
-- finished, and if not, why not.
-- p_is_known: it needs no admission. p_locked: another transaction has locked its stream.
-- Locks: none
-- Reads by: all instances; streams by primary key; the rest as wh_would_admit and wh_would_claim_{lane}.
-- Raises: none
-- Called by: wh_explain_{lane}
create or replace function wh_explain_instances_{lane}(m wh_{lane}, p_is_known boolean, p_locked boolean, p_now timestamptz)
returns setof wh_reason
language plpgsql stable
as $$
declare
  i wh_service_instances;
  c wh_call;
  s wh_active_streams;
  a record;
  r record;
  v_known text;
  v_changed wh_active_streams[];
  v_taken int[];
  v_code text;
  v_is_crowd boolean;
  v_was_crowd boolean := false;
begin
  for i in
    select * from wh_service_instances x
    where x.last_heartbeat_at >= p_now - make_interval(secs => x.stale_threshold_seconds)
    order by x.instance_id
  loop
    if coalesce(i.{lane}_room, 0) = 0 then
      v_code := case when i.takes_{lane} and i.{lane}_room is not null then 'no-room' else 'nobody-asks' end;
    else
      c := wh_poll_of(i, p_now);
      -- In a crowd a call looks for up to a second. So the answer counts for all, and only who is not admitted asks.
      v_is_crowd := wh_meets_crowd_outbox(c, i.outbox_room) or wh_meets_crowd_inbox(c, i.inbox_room);
      if v_is_crowd and p_is_known then
        c.outbox_arrived := false;
        c.inbox_arrived := false;
      end if;
      if not (v_is_crowd and v_was_crowd) then
        a := wh_would_admit(c, i.outbox_room, i.inbox_room);
      end if;
      v_was_crowd := v_is_crowd;
      v_changed := wh_would_free_{lane}(c, i.stale_threshold_seconds, i.{lane}_room, m.stream_key);
      v_changed := v_changed || array(
        select x::wh_active_streams from unnest(a.{lane}) x where x.stream_id <> all(array(select f.stream_id from unnest(v_changed) f)));
      select * into s from unnest(v_changed) x where x.stream_id = m.stream_key limit 1;
      if not found then
        select * into s from wh_active_streams x where x.stream_id = m.stream_key and x.lane = '{lane}';
      end if;
      v_taken := '{}';
      if '{lane}' = 'inbox' and c.max_partitions is not null and i.outbox_room > 0 then
        -- The cap counts both lanes, and a call claims of the outbox first.
        v_taken := (wh_would_claim_outbox(c, i.outbox_room, a.appended, wh_would_free_outbox(c, i.stale_threshold_seconds, i.outbox_room, null) || a.outbox,
          '{}', null, null, null)).partitions;
      end if;
      v_code := case when '{lane}' = 'inbox' and '' = any(c.paused) then 'paused'
                     else wh_why_unreachable_{lane}(c, i.{lane}_room, s, m, a.appended, v_taken) end;
      v_code := coalesce(v_code, case when p_locked then 'row-locked' end);
      if v_code is null then
        r := wh_would_claim_{lane}(c, i.{lane}_room, a.appended, v_changed, v_taken, s, m, v_known);
        v_known := coalesce(r.key, v_known);
        v_code := r.code;
      end if;
    end if;
    return next wh_instance_reason('{lane}', i, v_code, p_now);
  end loop;
end
$$;
