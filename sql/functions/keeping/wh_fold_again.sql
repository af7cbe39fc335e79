-- Has the models of these streams folded again from what is left of their events: called in the transaction that erases
-- or deletes something of them. Of each perspective of one stream, the model is deleted, and the stream is held as due:
-- the next batch folds it, without what was skipped. Nothing is announced again of what the model had. An event that
-- had failed is tried again before anybody can skip it: those before it are not applied yet.
-- A batch under way has read these events before: its bookmark is released, so that its move is refused, and it is run
-- again.
-- Models of many streams cannot be folded by stream: whoever calls has them built again.
-- Locks: rows of wh_perspective_bookmarks, waiting for a move, which is short; model rows; checkpoint rows.
-- Reads by: all rows of wh_perspectives and wh_perspective_bookmarks; primary key.
-- Raises: none
-- Called by: wh_delete_stream, wh_forget
create or replace function wh_fold_again(p_stream_ids uuid[])
returns void
language plpgsql
as $$
declare
  p wh_perspectives;
begin
  if p_stream_ids = '{}' then
    return;
  end if;
  for p in select x.* from wh_perspectives x where x.kind = 'stream' order by x.name loop
    update wh_perspective_bookmarks b set instance_id = null, lease_expiry = null, fence = b.fence + 1 where b.name = p.name;
    execute format($q$
      with gone as (
        delete from %I m where m.id = any($1) returning m.id, m.version
      )
      insert into wh_perspective_checkpoints as k
        (stream_id, perspective_name, last_version, status, held, held_since, retry_at, passed_version, quiet_version)
      select s.id, $2, 0, 0, true, clock_timestamp(), clock_timestamp(), v.version, coalesce(g.version, 0)
      from unnest($1) as s(id)
      join wh_event_streams v on v.stream_id = s.id
      left join gone g on g.id = s.id
      order by s.id
      on conflict (stream_id, perspective_name) do update
      set held = true, last_version = 0, retry_at = excluded.retry_at, quiet_version = greatest(k.quiet_version, excluded.quiet_version),
          passed_version = greatest(k.passed_version, excluded.passed_version), held_since = coalesce(k.held_since, excluded.held_since),
          failed_version = null, failed_event_id = null, failed_type = null, error = null, attempts = 0$q$,
      p.table_name) using p_stream_ids, p.name;
  end loop;
  if found then
    perform wh_notify_watch();
  end if;
end
$$;
