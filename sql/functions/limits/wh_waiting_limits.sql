-- Returns up to p_most names of limits with a key at which streams wait for this handler, in the order of their
-- names, behind p_after (null: from the first).
-- Locks: none
-- Reads by: wh_active_streams_waiting, once for each name.
-- Raises: none
-- Called by: limit-functions.ts, wh_waited_for
create or replace function wh_waiting_limits(p_handler text, p_after text, p_most int)
returns text[]
language sql stable security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_seqscan = off set enable_bitmapscan = off
as $$
  with recursive names as (
    (
      select s.waits_for as name, 1 as place
      from wh_active_streams s
      where s.lane = 'inbox' and s.instance_id is null
        and s.waits_for > coalesce(p_after, p_handler || chr(31)) collate "C" and s.waits_for < (p_handler || chr(32)) collate "C"
      order by s.waits_for
      limit 1
    )
    union all
    select f.name, n.place + 1
    from names n
    cross join lateral (
      select s.waits_for as name
      from wh_active_streams s
      where s.lane = 'inbox' and s.instance_id is null
        and s.waits_for > n.name and s.waits_for < (p_handler || chr(32)) collate "C"
      order by s.waits_for
      limit 1
    ) f
    where n.place < p_most
  )
  select coalesce(array_agg(n.name order by n.place), '{}') from names n
$$;
