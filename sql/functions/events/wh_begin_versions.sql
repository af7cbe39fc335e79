-- Inserts the version rows of new event streams.
-- It waits at most 50 ms for a row that an open transaction is inserting. Then it inserts the rows one by one and stops
-- after two more misses. The rest is left to admission.
-- Locks: new rows of wh_event_streams, by stream_id; it waits up to 50 ms each.
-- Reads by: no table
-- Raises: unique_violation if another call commits one of the rows first (wh_store tries again).
-- Called by: wh_lock_versions
create or replace function wh_begin_versions(p_stream_ids uuid[])
returns void
language plpgsql
set lock_timeout = '50ms'
as $$
declare
  v_stream_id uuid;
  v_misses int := 0;
begin
  if cardinality(p_stream_ids) = 0 then
    return;
  end if;
  begin
    insert into wh_event_streams (stream_id, version) select u, 0 from unnest(p_stream_ids) u order by u;
    return;
  exception
    when lock_not_available then null;
  end;
  foreach v_stream_id in array p_stream_ids loop
    begin
      insert into wh_event_streams (stream_id, version) values (v_stream_id, 0);
    exception
      when lock_not_available then v_misses := v_misses + 1;
    end;
    exit when v_misses = 2;
  end loop;
end
$$;
