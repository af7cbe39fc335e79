-- Asks whoever has this bookmark to give away the upper half of its range, if it is far behind: by more than 5 000
-- events, or 5 seconds. The caller has nothing else to do.
-- Locks: the row of wh_perspectives, skip locked.
-- Reads by: ticks by primary key, at most 200.
-- Raises: none
-- Called by: wh_claim_bookmarks
create or replace function wh_want_split(p wh_perspectives, b wh_perspective_bookmarks, p_now timestamptz)
returns void
language plpgsql
as $$
declare
  c_most_ranges constant int := 16;
  c_most_events constant int := 5000;
  v_is_far boolean;
begin
  if p.kind = 'keyed' or b.from_partition = b.to_partition or cardinality(p.cuts) >= c_most_ranges
    or p.split_wanted_at > p_now - interval '1 second'
  then
    return;
  elsif b.swept is not null then
    v_is_far := p.started_high - b.swept > c_most_events;
  else
    select sum(n.events) > c_most_events or min(n.sealed_at) < p_now - interval '5 seconds'
    into v_is_far
    from (
      select t.events, t.types, t.sealed_at
      from wh_event_ticks t
      where t.tick >= b.tick and (t.first_tick > b.tick or t.covers && int8range(b.upto, null, '()'))
      order by t.tick
      limit 200
    ) n
    where n.types && p.event_types;
  end if;
  if v_is_far then
    update wh_perspectives x
    set split_wanted_at = p_now
    from (select y.name from wh_perspectives y where y.name = p.name for no key update skip locked) y
    where x.name = y.name;
  end if;
end
$$;
