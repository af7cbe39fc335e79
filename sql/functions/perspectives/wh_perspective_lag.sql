-- Returns how far a build of a perspective is behind: about how many events (of ticks that have one of its types, at
-- most 2 000 of them; while it is swept also the numbers that are left), since when the oldest of them waits, how many
-- it applies in a second, and how much of the history has been read, in hundredths.
-- Locks: none
-- Reads by: bookmarks by primary key, newest first; ticks by primary key; as wh_read_events.
-- Raises: none
-- Called by: wh_gauges, wh_perspective_status
create or replace function wh_perspective_lag(
  p wh_perspectives, out events bigint, out waits_since timestamptz, out rate numeric, out percent int
)
language plpgsql stable
as $$
declare
  c_most_ticks constant int := 2000;
  b wh_perspective_bookmarks;
  v_next wh_ticked_event;
begin
  select sum(case when x.moved_at > clock_timestamp() - interval '1 minute'
    then x.applied / greatest(extract(epoch from x.moved_at - x.applied_since), 1) else 0 end)
  into rate
  from unnest(p.cuts) cut
  cross join lateral (
    select y.* from wh_perspective_bookmarks y where y.name = p.name and y.from_partition = cut order by y.tick desc, y.upto desc limit 1
  ) x;
  select x.* into b
  from unnest(p.cuts) cut
  cross join lateral (
    select y.* from wh_perspective_bookmarks y where y.name = p.name and y.from_partition = cut order by y.tick desc, y.upto desc limit 1
  ) x
  order by x.swept nulls last, x.tick, x.upto
  limit 1;
  select coalesce(sum(n.events) filter (where n.types && p.event_types), 0) into events
  from (
    select t.events, t.types from wh_event_ticks t
    where t.tick >= b.tick and (t.first_tick > b.tick or t.covers && int8range(b.upto, null, '()'))
    order by t.tick
    limit c_most_ticks
  ) n;
  select r.* into v_next from wh_read_events(b.tick, b.upto, p.event_types, 1) r limit 1;
  if v_next.event_id is null and v_next.tick is not distinct from (select max(t.tick) from wh_event_ticks t) then
    events := 0; -- the rest of the tick is of other types
  end if;
  waits_since := v_next.created_at;
  percent := 100;
  if b.swept is not null then
    events := events + p.started_high - b.swept;
    waits_since := (select s.created_at from wh_events s where s.sequence_number > b.swept order by s.sequence_number limit 1);
    percent := 100 * b.swept / greatest(p.started_high, 1);
  elsif b.tick < p.started_tick then
    percent := least(100 * b.upto / greatest(p.started_high, 1), 99);
  end if;
end
$$;
