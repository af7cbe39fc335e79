-- Whether every perspective has applied the events of a stream up to this sequence number. Asked under the lock of the
-- stream, before its events are archived; all of them are in ticks. A retired build does not count.
-- Locks: none
-- Reads by: all rows of wh_perspectives; bookmarks and ticks by primary key, the ticks behind the bookmarks.
-- Raises: none
-- Called by: wh_archive_stream
create or replace function wh_perspectives_passed(p_stream_id uuid, p_sequence bigint)
returns boolean
language plpgsql stable
as $$
begin
  return not exists (
    select from wh_perspectives p
    cross join unnest(p.cuts) as cut
    cross join lateral (
      select x.* from wh_perspective_bookmarks x
      where x.name = p.name and x.from_partition = cut
      order by x.tick desc, x.upto desc
      limit 1
    ) b
    where p.state <> 'retired' and (
      b.swept is not null
      or exists (select from wh_perspective_checkpoints k where k.stream_id = p_stream_id and k.perspective_name = p.name and k.held)
      or exists (
        select from wh_event_ticks t
        join wh_events e on e.stream_id = p_stream_id and e.sequence_number <= p_sequence
        where t.tick >= b.tick and t.covers @> e.sequence_number and (t.first_tick > b.tick or e.sequence_number > b.upto)
          and t.types && p.event_types)));
end
$$;
