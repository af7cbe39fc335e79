-- Makes a build of a perspective the one that queries read, if it has caught up: the view shows its models, and the
-- build that was live is retired. Either all of it happens, or nothing.
-- It waits for no lock longer than 0.2 s. Returns
--   switched  done, or it was live already
--   behind    it has not caught up. If it is close, the live build is halted for a moment
--   busy      a query has the view, or a batch a bookmark: to be tried again
--   blocked   other views depend on the view, whose columns would be others
--   gone      there is no such build
-- Locks: as wh_switch_over.
-- Reads by: primary key.
-- Raises: none
-- Called by: build-functions.ts
create or replace function wh_switch_perspective(p_name text)
returns text
language plpgsql security definer
set search_path from current
set lock_timeout = '200ms'
as $$
declare
  c_pauses constant jsonb := '{"behind": 0.05, "busy": 0.5, "blocked": 60}';
  v_outcome text;
begin
  begin
    v_outcome := wh_switch_over(p_name);
  exception
    when lock_not_available or deadlock_detected then
      v_outcome := 'busy';
    when dependent_objects_still_exist then
      v_outcome := 'blocked';
  end;
  if c_pauses ? v_outcome then
    update wh_perspectives x
    set switch_after = clock_timestamp() + make_interval(secs => (c_pauses ->> v_outcome)::float)
    from (select y.name from wh_perspectives y where y.name = p_name for no key update skip locked) y
    where x.name = y.name;
  end if;
  return v_outcome;
end
$$;
