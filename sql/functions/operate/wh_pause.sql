-- Pauses a type of messages, a stream, or the intake of the service (p_kind; the intake has no name). From the commit
-- on no call hands out a message of it, and what arrives waits. What was handed out before is finished.
-- Returns false if it is paused already.
-- Locks: the row of the inbox in wh_lanes, waiting for who moves its floors; for a stream instead its stream rows, as
--   wh_pause_stream_{lane}, outbox before inbox.
-- Reads by: primary key.
-- Raises: WB001
-- Called by: action-functions.ts
create or replace function wh_pause(p_kind text, p_name text default null, p_reason text default null, p_who text default null)
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  v_name text := wh_check_pause(p_kind, p_name);
  v_who text;
begin
  if p_kind <> 'stream' then
    perform wh_restore_lanes();
    perform from wh_lanes l where l.lane = 'inbox' for no key update;
  end if;
  insert into wh_pauses (kind, name, who, reason) values (p_kind, v_name, '', p_reason) on conflict do nothing;
  if not found then
    return false;
  end if;
  v_who := wh_note_operation(p_who, 'pause', rtrim(p_kind || ' ' || v_name), jsonb_strip_nulls(jsonb_build_object('reason', p_reason)));
  update wh_pauses p set who = v_who where p.kind = p_kind and p.name = v_name;
  if p_kind = 'stream' then
    -- Before it reads the clock; see wh_stamp_call.
    perform pg_current_xact_id();
    perform wh_pause_stream_outbox(v_name::uuid);
    perform wh_pause_stream_inbox(v_name::uuid);
  else
    update wh_lanes l set paused = wh_paused_names() where l.lane = 'inbox';
  end if;
  return true;
end
$$;
