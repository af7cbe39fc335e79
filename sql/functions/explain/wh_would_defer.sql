-- Returns those of these event streams whose version row another transaction has: their events are appended later.
-- A row that is being inserted cannot be seen. It is taken for that if an earlier call has left the stream to wait
-- without a version row, and a transaction that writes version rows is open.
-- Locks: none
-- Reads by: primary keys; pg_locks.
-- Raises: none
-- Called by: wh_would_admit
create or replace function wh_would_defer(p_stream_ids uuid[])
returns uuid[]
language plpgsql stable
as $$
begin
  if p_stream_ids = '{}' then
    return p_stream_ids;
  end if;
  return array(
    select k.stream_id
    from unnest(p_stream_ids) as k(stream_id)
    left join lateral (select e.xmax as locked_by from wh_event_streams e where e.stream_id = k.stream_id limit 1) v on true
    where case when v.locked_by is not null then wh_is_locked(v.locked_by)
      else exists (select from wh_active_streams s where s.stream_id = k.stream_id and s.is_blocked)
        and exists (
          select from pg_locks l
          where l.locktype = 'relation' and l.relation = to_regclass('wh_event_streams') and l.mode = 'RowExclusiveLock'
            and l.pid <> pg_backend_pid() and l.database = (select d.oid from pg_database d where d.datname = current_database()))
      end
    order by k.stream_id);
end
$$;
