-- Takes from the limits of a call what one look at the streams has used: one name for each stream.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_claim_all_{lane}, wh_would_claim_{lane}
create or replace function wh_spend_limits(c wh_call, p_used text[])
returns wh_call
language plpgsql immutable
as $$
begin
  select coalesce(array_agg(l.name) filter (where l.left > 0), '{}'), coalesce(array_agg(l.left) filter (where l.left > 0), '{}')
  into c.inbox_limits, c.inbox_limit_rooms
  from (
    select n.name, n.room - (select count(*)::int from unnest(p_used) as u(name) where u.name = n.name) as left
    from unnest(c.inbox_limits, c.inbox_limit_rooms) as n(name, room)
  ) l;
  return c;
end
$$;
