-- The streams to settle: those that the caller reported on, without those that are busy again with new messages,
-- and those made in vain, which begin at the lane's floor. Touches no table.
create or replace function wh_to_settle(p_held wh_held, p_busy uuid[], p_unused uuid[], p_floor bigint)
returns wh_held
language plpgsql immutable
set enable_nestloop = off
as $$
declare
  r wh_held := p_held;
begin
  if p_busy <> '{}' then
    select array_agg(h.stream_id), array_agg(h.head) into r
    from unnest(p_held.stream_ids, p_held.heads) as h(stream_id, head)
    left join unnest(p_busy) as b(stream_id) on b.stream_id = h.stream_id
    where b.stream_id is null;
  end if;
  if p_unused <> '{}' then
    r.stream_ids := r.stream_ids || p_unused;
    r.heads := r.heads || array_fill(p_floor, array[cardinality(p_unused)]);
  end if;
  return r;
end
$$;
