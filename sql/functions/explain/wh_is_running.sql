-- Tells whether another transaction of this id, as rows hold it (xmin, xmax), has not ended. Also a subtransaction.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_is_locked
create or replace function wh_is_running(p_xid xid)
returns boolean
language plpgsql stable
as $$
declare
  c_turn constant bigint := (2 ^ 32)::bigint; -- ids in rows have 32 bits
  v_next bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  v_id bigint := p_xid::text::bigint + v_next / c_turn * c_turn;
begin
  if p_xid::text = (pg_current_xact_id_if_assigned()::xid)::text then
    return false;
  end if;
  return coalesce(pg_xact_status((case when v_id > v_next + c_turn / 2 then v_id - c_turn else v_id end)::text::xid8) = 'in progress', false);
exception
  when others then return false; -- there is no such transaction
end
$$;
