-- How far each build of a perspective is in each stream, computed when it is asked: no row is stored for it. It has no
-- payload, no model and no error. Ask for one stream or one build; of all it takes long.
create or replace view wh_perspective_positions as
select p.name as perspective_name, s.stream_id, s.version as stream_version,
       case when k.held then k.last_version else coalesce(a.version, 0) end as last_version,
       coalesce(k.held, false) as held, k.held_since, k.failed_version, k.failed_type, k.attempts, k.retry_at
from wh_perspectives p
join wh_perspective_bookmarks b on b.name = p.name
-- As wh_partition, which whoever may read the view may not call.
join wh_event_streams s on abs(hashtext(s.stream_id::text)::bigint) % 10000 between b.from_partition and b.to_partition
left join wh_perspective_checkpoints k
  on k.stream_id = s.stream_id and k.perspective_name = p.name and k.held and k.model_key is null
left join lateral (
  -- The last event that the bookmark has passed; in a sweep, only of streams that are done, or as far as they are.
  select e.version from wh_events e
  where e.stream_id = s.stream_id and exists (
      select from wh_event_ticks t
      where t.covers @> e.sequence_number and (t.tick < b.tick or t.first_tick <= b.tick and e.sequence_number <= b.upto))
    and (b.swept is null or b.swept >= (
      select f.sequence_number from wh_events f where f.stream_id = s.stream_id order by f.version limit 1))
    and (b.part_stream_id is distinct from s.stream_id or e.version <= b.part_version)
  order by e.version desc
  limit 1
) a on true;
