-- Resumes what was paused, and notifies all sleeping workers. Returns false if it is not paused.
-- Locks: the row of the inbox in wh_lanes, waiting for who moves its floors; for a stream instead its stream rows,
--   waiting, outbox before inbox; as wh_notify_all.
-- Reads by: primary key.
-- Raises: WB001
-- Called by: action-functions.ts
create or replace function wh_resume(p_kind text, p_name text default null, p_who text default null)
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  v_name text := wh_check_pause(p_kind, p_name);
  v_before jsonb;
begin
  if p_kind <> 'stream' then
    perform wh_restore_lanes();
    perform from wh_lanes l where l.lane = 'inbox' for no key update;
  end if;
  delete from wh_pauses p where p.kind = p_kind and p.name = v_name
  returning jsonb_strip_nulls(jsonb_build_object('since', p.since, 'who', p.who, 'reason', p.reason)) into v_before;
  if v_before is null then
    return false;
  end if;
  if p_kind = 'stream' then
    -- Before it reads the clock; see wh_stamp_call.
    perform pg_current_xact_id();
    perform wh_resume_stream_outbox(v_name::uuid);
    perform wh_resume_stream_inbox(v_name::uuid);
  else
    update wh_lanes l set paused = wh_paused_names() where l.lane = 'inbox';
  end if;
  perform wh_note_operation(p_who, 'resume', rtrim(p_kind || ' ' || v_name), v_before);
  perform wh_notify_all();
  return true;
end
$$;
