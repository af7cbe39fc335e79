-- Deletes up to 500 dead letters that died before p_before, the oldest first. Returns how many.
-- Locks: rows of wh_dead_letters, skip locked.
-- Reads by: primary key, from its beginning.
-- Raises: none
-- Called by: wh_expire
create or replace function wh_expire_dead_letters(p_before timestamptz)
returns int
language plpgsql
as $$
declare
  v_numbers bigint[] := array(
    select d.dead_letter_id
    from (select o.dead_letter_id, o.died_at from wh_dead_letters o order by o.dead_letter_id limit 500) d
    where d.died_at < p_before
    order by d.dead_letter_id);
  v_deleted int := 0;
begin
  if v_numbers <> '{}' then
    delete from wh_dead_letters d where d.dead_letter_id = any(v_numbers);
    get diagnostics v_deleted = row_count;
  end if;
  return v_deleted;
end
$$;
