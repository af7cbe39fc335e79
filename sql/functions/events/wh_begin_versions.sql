-- Makes the version rows of new event streams. One that an open transaction is making right now is not waited for
-- beyond a moment: the others are then made one by one, until two more were not to be had; the rest is left for later.
-- Locks: wh_event_streams by stream_id; fails with unique_violation when another call commits one (see wh_store).
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
