-- Deletes up to 500 rows of what operators did before p_before, the oldest first. Returns how many.
-- Locks: rows of wh_operations.
-- Reads by: primary key, from its beginning.
-- Raises: none
-- Called by: wh_expire
create or replace function wh_expire_operations(p_before timestamptz)
returns int
language plpgsql
as $$
declare
  v_ids bigint[] := array(
    select p.id
    from (select o.id, o.at from wh_operations o order by o.id limit 500) p
    where p.at < p_before
    order by p.id);
  v_deleted int := 0;
begin
  if v_ids <> '{}' then
    delete from wh_operations o where o.id = any(v_ids);
    get diagnostics v_deleted = row_count;
  end if;
  return v_deleted;
end
$$;
