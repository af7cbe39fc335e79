-- Locks those of these inbox streams that the caller holds, so that new messages can be leased to it behind what it
-- holds there.
-- It comes after the version rows: a transaction that has one of those may wait for one of these.
-- Locks: stream rows, skip locked: a locked one is being reported on, perhaps by a receptor's own transaction.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_lock_own_streams(c wh_call, p_messages wh_new_message[], p_opened wh_open_stream[])
returns wh_open_stream[]
language plpgsql
as $$
begin
  return array(
    select (s.lane, s.stream_id, false, true, s.lease_expiry, s.head, s.held_through)::wh_open_stream
    from wh_active_streams s
    where s.stream_id = any(array(
        select m.stream_key from unnest(p_messages) m except select o.stream_id from unnest(p_opened) o where o.lane = 'inbox'))
      -- By the primary key and no other index; see docs/internals/mechanism.md#plans-that-hold
      and (s.lane = 'inbox') is true and s.instance_id = c.instance_id
      and (s.lease_expiry >= c.fresh_from) is true and s.held_through = {Everything}
    for no key update skip locked
  );
end
$$;
