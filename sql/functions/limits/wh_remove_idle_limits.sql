-- Removes those of the next p_most rows of a limit, by key behind p_after (null: from the first), that nobody has used
-- for a minute and whose messages have all left. A message that enters later makes the row again.
-- Returns the last key that was looked at, or null behind the last.
-- Locks: rows of the limit, skip locked.
-- Reads by: primary keys.
-- Raises: none
-- Called by: limit-functions.ts
create or replace function wh_remove_idle_limits(p_name text, p_after text, p_most int)
returns text
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_keys text[] := array(
    select w.limit_key from wh_limits w
    where w.limit_name = p_name and w.limit_key > coalesce(p_after, '')
    order by w.limit_key
    limit p_most);
  v_idle text[];
begin
  v_idle := array(
    select w.limit_key from wh_limits w
    where w.limit_name = p_name and w.limit_key = any(v_keys) and w.idle_from < v_now - interval '1 minute'
    order by w.limit_key
    for update skip locked);
  delete from wh_limits w
  where w.limit_name = p_name and w.limit_key = any(v_idle)
    and not exists (
      select 1 from wh_inbox m
      where m.message_id = any(w.holders) and m.instance_id is not null and m.lease_expiry > v_now);
  return case when cardinality(v_keys) = p_most then v_keys[p_most] end;
end
$$;
