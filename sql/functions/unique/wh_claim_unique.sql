-- Claims a key for a message, for so many seconds by the database's clock. Returns null, or the id of the message that
-- has it already. It is part of the caller's transaction: after a rollback the key is free.
-- It also removes up to two keys that expired an hour ago, so that the table does not grow.
-- Locks: the row of the key; it waits for a transaction that has claimed the same key. Expired ones with skip locked.
-- Reads by: primary key, wh_unique_keys_expired.
-- Raises: WB001
-- Called by: functions.ts
create or replace function wh_claim_unique(p_key text, p_message_id uuid, p_seconds double precision)
returns uuid
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_first uuid;
begin
  if p_key is null or p_key = '' or p_message_id is null or p_seconds is null or not p_seconds between 0 and {TenYears} then
    perform wh_refuse('p_key', 'is empty, or has no message, or no seconds from 0 to ten years');
  end if;
  loop
    insert into wh_unique_keys as u (unique_key, message_id, expires_at)
    values (p_key, p_message_id, clock_timestamp() + make_interval(secs => p_seconds))
    on conflict (unique_key) do update set message_id = excluded.message_id, expires_at = excluded.expires_at
      where u.expires_at <= clock_timestamp()
    returning null into v_first;
    exit when found;
    select u.message_id into v_first from wh_unique_keys u where u.unique_key = p_key;
    exit when found; -- else it was removed in between
  end loop;
  delete from wh_unique_keys u
  where u.unique_key = any(array(
    select e.unique_key from wh_unique_keys e
    where e.expires_at < clock_timestamp() - interval '1 hour'
    order by e.expires_at
    limit 2
    for update skip locked));
  return v_first;
end
$$;
