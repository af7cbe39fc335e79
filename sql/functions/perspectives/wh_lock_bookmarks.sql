-- Locks all bookmarks of these builds until the transaction ends: then nothing is stored by any batch of theirs.
-- False: one of them was in use for longer than lock_timeout, or was moved again and again while this waited.
-- Locks: rows of wh_perspective_bookmarks, by name and range, waiting.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_reset_perspective, wh_skip_held, wh_switch_over, wh_take_streams
create or replace function wh_lock_bookmarks(p_names text[])
returns boolean
language plpgsql
as $$
declare
  c_most_tries constant int := 5;
  v_locked int;
begin
  -- A bookmark that was moved while this waited for its row is another row now.
  for i in 1 .. c_most_tries loop
    select count(*) into v_locked
    from (
      select from wh_perspective_bookmarks b where b.name = any(p_names) order by b.name, b.from_partition for update
    ) b;
    if v_locked = (select sum(cardinality(p.cuts)) from wh_perspectives p where p.name = any(p_names)) then
      return true;
    end if;
  end loop;
  return false;
exception
  when lock_not_available or deadlock_detected then
    return false;
end
$$;
