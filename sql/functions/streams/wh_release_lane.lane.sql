-- Takes the leases off the messages of these streams, which the call has locked, except for p_except.
-- Locks: message rows of streams that the call has locked.
-- Reads by: streams by primary key; messages by wh_{lane}_stream, from the stream's head to held_through.
-- Raises: none
-- Called by: wh_claim_{lane}, wh_release_instances, wh_release_stream, wh_settle_{lane}
create or replace function wh_release_{lane}(p_stream_ids uuid[], p_except uuid[] default '{}')
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if p_stream_ids is null then
    return;
  end if;
  update wh_{lane} m
  set instance_id = null, lease_expiry = null
  from wh_active_streams s
  where s.stream_id = any(p_stream_ids) and s.lane = '{lane}'
    and m.stream_key = s.stream_id
    and m.sequence_order between s.head and s.held_through
    and m.processed_at is null
    and m.instance_id is not null
    and m.message_id <> all(p_except);
end
$$;
