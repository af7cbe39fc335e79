-- The streams to settle: those that the caller reported on, without those that are busy again with new messages,
-- and those made in vain. Touches no table.
create or replace function wh_to_settle(p_held uuid[], p_busy uuid[], p_unused uuid[])
returns uuid[]
language plpgsql immutable
as $$
begin
  if p_busy <> '{}' then
    return array(select unnest(p_held) except select unnest(p_busy)) || p_unused;
  end if;
  return p_held || p_unused;
end
$$;
