-- Returns the handlers that free streams of a lane wait for and the caller has, and the limits of which it asks. The
-- highest priority comes first, then the longest wait of that priority. For a handler that the caller has without a
-- limit, also the names of limits with a key that another instance has.
-- Locks: none
-- Reads by: wh_active_streams_waiting, once for each handler: each of the caller's, or, if the caller has all, each
--   that a stream waits for.
-- Raises: none
-- Called by: wh_lock_waiting_streams, wh_would_wait
create or replace function wh_waited_for(c wh_call, p_lane text)
returns text[]
language plpgsql stable
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_names text[] := c.inbox_handlers || c.inbox_limits;
  v_keyed text[];
  v_name text;
begin
  if v_names is null then
    v_name := (
      select s.waits_for from wh_active_streams s
      where s.lane = p_lane and s.instance_id is null and s.waits_for is not null
      order by s.waits_for
      limit 1);
    while v_name is not null loop
      v_names := v_names || v_name;
      v_name := (
        select s.waits_for from wh_active_streams s
        where s.lane = p_lane and s.instance_id is null and s.waits_for > v_name
        order by s.waits_for
        limit 1);
    end loop;
  else
    v_keyed := array(
      select h.name
      from unnest(c.inbox_handlers) as h(name)
      cross join lateral (
        select s.waits_for from wh_active_streams s
        where s.lane = p_lane and s.instance_id is null
          and s.waits_for > (h.name || chr(31)) collate "C" and s.waits_for < (h.name || chr(32)) collate "C"
        order by s.waits_for
        limit 1
      ) f
    );
    if v_keyed <> '{}' then
      v_names := v_names || array(select unnest(wh_waiting_limits(h.name, null, 1000)) from unnest(v_keyed) as h(name));
    end if;
  end if;
  return array(
    select h.name
    from unnest(v_names) as h(name)
    -- A lateral join with a limit stays one probe per row; an exists may become a join over the whole table.
    cross join lateral (
      select coalesce(s.priority, 0) as priority, s.available_at from wh_active_streams s
      where s.lane = p_lane and s.instance_id is null and s.waits_for = h.name
      order by coalesce(s.priority, 0) desc, s.available_at
      limit 1
    ) f
    order by f.priority desc, f.available_at
  );
end
$$;
