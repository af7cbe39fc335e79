-- Takes or renews the lease of a receiver: when it is free, when the caller has it, or when its fence and beat are
-- still these, which the caller has then seen unchanged for the whole time of the lease. Null: not for that long.
-- Returns {is_held, fence, beat} as they are afterwards.
-- Locks: the row of the lease, only when it may be taken; waits for a call that takes or renews it.
-- Reads by: primary key.
-- Raises: none
-- Called by: functions.ts
create or replace function wh_hold_receiver(p_name text, p_holder uuid, p_fence bigint, p_beat bigint)
returns jsonb
language plpgsql security definer
set search_path from current
as $$
begin
  if not exists (
    select from wh_receiver_leases l
    where l.name = p_name and l.holder <> p_holder and (l.fence = p_fence and l.beat = p_beat) is not true
  ) then
    insert into wh_receiver_leases as l (name, holder) values (p_name, p_holder)
    on conflict (name) do update
    set holder = p_holder,
        fence = l.fence + (l.holder is distinct from p_holder)::int,
        beat = l.beat + 1,
        changed_at = clock_timestamp()
    where l.holder is null or l.holder = p_holder or (l.fence = p_fence and l.beat = p_beat);
  end if;
  return (
    select jsonb_build_object('is_held', l.holder is not distinct from p_holder, 'fence', l.fence, 'beat', l.beat)
    from wh_receiver_leases l
    where l.name = p_name);
end
$$;
