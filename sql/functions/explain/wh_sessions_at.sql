-- Returns the sessions with an open transaction that has locked rows of a table, the oldest five first: [{pid,
-- application, state, since}]. Of other roles' sessions only the pid is known, unless the owner of the schema may see
-- more.
-- Locks: none
-- Reads by: pg_locks, pg_stat_activity.
-- Raises: none
-- Called by: wh_reason_of_{lane}
create or replace function wh_sessions_at(p_table text)
returns jsonb
language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('pid', o.pid, 'application', o.application_name, 'state', o.state, 'since', o.xact_start) order by o.xact_start), '[]')
    from (
      select distinct l.pid, a.application_name, a.state, a.xact_start
      from pg_locks l
      left join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'relation' and l.relation = to_regclass(p_table) and l.mode = any(array['RowShareLock', 'RowExclusiveLock'])
        and l.database = (select d.oid from pg_database d where d.datname = current_database()) and l.pid <> pg_backend_pid()
      order by a.xact_start
      limit 5
    ) o);
end
$$;
