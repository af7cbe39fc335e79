-- Tells whether another transaction that has not ended has locked or changed a row, given its xmax. It takes no lock
-- itself, so nobody skips a row because of it.
-- An xmax is the id of a transaction, or of several (a multixact); which one cannot be seen from here, so it looks at
-- both. A number that means one now and meant the other long ago would be told wrongly; that is rare.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_explain_{lane}, wh_would_defer
create or replace function wh_is_locked(p_xmax xid)
returns boolean
language plpgsql stable
as $$
begin
  if p_xmax::text = '0' then
    return false;
  end if;
  return wh_is_running(p_xmax) or coalesce((select bool_or(wh_is_running(g.xid)) from pg_get_multixact_members(p_xmax) g), false);
exception
  when others then return false; -- there is no such multixact
end
$$;
