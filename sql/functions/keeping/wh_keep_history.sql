-- Makes the partitions of wh_history for today and three days more, and drops those that are older than so many days.
-- Days are those of UTC. Returns {made, dropped}. Null: another instance is at it.
-- A table that somebody uses is left for the next time: it waits 0.2 seconds at most. A day that cannot be made leaves
-- its rows in wh_history_rest.
-- Locks: an advisory lock, tried; wh_history (share update exclusive to add, access exclusive to drop) and its parts.
-- Reads by: the system catalogue; all of wh_history_rest.
-- Raises: none
-- Called by: keeping-functions.ts
create or replace function wh_keep_history(p_days double precision)
returns jsonb
language plpgsql security definer
set search_path from current
set lock_timeout = '200ms'
as $$
declare
  c_cutoff constant timestamptz := clock_timestamp() - make_interval(secs => p_days * 86400);
  v_today date := (clock_timestamp() at time zone 'utc')::date;
  v_day date;
  v_name text;
  v_made int := 0;
  v_dropped int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtext('wh_keep_history'), hashtext(current_schema())) then
    return null;
  end if;
  -- First, because it may take long: what follows locks tables that every completion needs, until the end.
  delete from wh_history_rest h where h.finished_at < c_cutoff;
  for v_day in select v_today + n from generate_series(0, 3) n loop
    v_name := 'wh_history_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass(format('%I.%I', current_schema(), v_name)) is not null;
    begin
      -- To attach a table locks less than to create it as a part.
      execute format('create table %I (like wh_history including defaults)', v_name);
      execute format('alter table wh_history attach partition %I for values from (%L) to (%L)', v_name,
        v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
      v_made := v_made + 1;
    exception
      when lock_not_available or check_violation then null;
    end;
  end loop;
  for v_name in
    select i.inhrelid::regclass::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'wh_history'::regclass and c.relname ~ '^wh_history_[0-9]{8}$'
      and (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'utc' <= c_cutoff
    order by c.relname
  loop
    begin
      execute format('drop table %s', v_name);
      v_dropped := v_dropped + 1;
    exception
      when lock_not_available then null;
    end;
  end loop;
  return jsonb_build_object('made', v_made, 'dropped', v_dropped);
end
$$;
