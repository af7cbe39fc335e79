-- Drops a build that is not live: its models, its bookmarks, and what it holds. Returns false if a query or a batch had
-- its table for 0.2 s, or a view of the user's reads it: then nothing has changed.
-- Locks: its bookmarks, its row of wh_perspectives, its checkpoint rows, its table; each for 0.2 s at most.
-- Reads by: primary key; checkpoints as wh_perspective_checkpoints has them.
-- Raises: WB001
-- Called by: build-functions.ts, wh_rebuild_perspective
create or replace function wh_drop_build(p_name text)
returns boolean
language plpgsql security definer
set search_path from current
set lock_timeout = '200ms'
as $$
declare
  p wh_perspectives;
begin
  select x.* into p from wh_perspectives x where x.name = p_name;
  if p.name is null then
    perform wh_refuse('p_name', format('%s is no build of this schema', p_name));
  elsif p.state = any(array['live', 'building']) then
    perform wh_refuse('p_name', format('%s is %s: queries read it', p_name, p.state));
  end if;
  begin
    delete from wh_perspective_bookmarks b where b.name = p_name;
    delete from wh_perspectives x where x.name = p_name and x.state <> all(array['live', 'building']);
    delete from wh_perspective_checkpoints k where k.perspective_name = p_name;
    if p.table_name is not null then
      execute format('drop table %I', p.table_name);
    end if;
    return true;
  exception
    when lock_not_available or deadlock_detected or dependent_objects_still_exist then
      return false;
  end;
end
$$;
