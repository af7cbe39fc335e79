-- Ends the leases on a stream and its messages now, whoever has them: it is due, and others may take it. What its
-- holder reports later is refused. Returns whether somebody held it.
-- Locks: the stream rows, outbox before inbox; it waits for a call that has them. Then their message rows.
-- Reads by: primary key; messages as wh_release_{lane}.
-- Raises: none
-- Called by: action-functions.ts
create or replace function wh_release_stream(p_stream_id uuid, p_who text default null)
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  v_before jsonb;
begin
  -- Before it reads the clock; see wh_stamp_call.
  perform pg_current_xact_id();
  select jsonb_agg(jsonb_build_object('lane', h.lane, 'held_by', h.instance_id, 'lease_expiry', h.lease_expiry)) into v_before
  from (
    select s.lane, s.instance_id, s.lease_expiry
    from wh_active_streams s
    where s.stream_id = p_stream_id and s.lane = any(array['outbox', 'inbox']) and s.instance_id is not null
    order by s.lane desc
    for no key update
  ) h;
  if v_before is null then
    return false;
  end if;
  perform wh_release_outbox(array[p_stream_id]);
  perform wh_release_inbox(array[p_stream_id]);
  update wh_active_streams s
  set instance_id = null, lease_expiry = null, held_through = 0, available_at = clock_timestamp()
  where s.stream_id = p_stream_id and s.lane = any(array['outbox', 'inbox']) and s.instance_id is not null;
  perform wh_note_operation(p_who, 'release-stream', 'stream ' || p_stream_id, v_before);
  perform wh_notify_all();
  return true;
end
$$;
