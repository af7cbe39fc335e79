-- Marks plainly inserted messages as admitted, in streams that this call has opened or locked. Those that the claim
-- has leased meanwhile are marked already. When none of a crowd could be admitted, the next calls look behind it.
-- Locks: message rows of streams that the call has locked. Reads by primary key.
create or replace function wh_admit_{lane}(c wh_call, p_arrivals wh_arrival[], p_admitted wh_arrival[])
returns void
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if p_admitted = '{}' then
    -- Fewer than any look takes were all there are, and hide no others. To pass them by would only keep them waiting.
    if cardinality(p_arrivals) >= wh_admission_limit(0) then
      perform wh_pass_{lane}(c, p_arrivals);
    end if;
    return;
  end if;
  update wh_{lane} m
  set partition_number = a.partition_number,
      status = case when a.appends then m.status | 2 else m.status end
  from unnest(p_admitted) a
  where m.message_id = a.message_id
    and m.partition_number is null;
end
$$;
