-- Stores new messages and admits plainly inserted ones, in both lanes: inbox duplicates out, stream rows opened,
-- version rows taken, messages inserted (and leased where the stream is clear), events appended.
-- A lane without room opens no stream: what is stored there is left as a plain insert would be, so a call in an
-- application's long transaction holds nobody up.
-- Locks: as the steps it calls say, in the order in which it calls them.
create or replace function wh_store(
  c wh_call, p_outbox wh_new_message[], p_inbox wh_new_message[], p_outbox_arrivals wh_arrival[], p_inbox_arrivals wh_arrival[],
  p_outbox_room int, p_inbox_room int, p_outbox_floor bigint, p_inbox_floor bigint
)
returns wh_stored
language plpgsql
set enable_nestloop = off
as $$
declare
  r wh_stored;
  v_inbox wh_new_message[] := p_inbox;
  v_outbox_opening wh_new_message[] := case when p_outbox_room > 0 then p_outbox else '{}' end;
  v_inbox_opening wh_new_message[];
  v_opened wh_open_stream[];
  v_streams wh_open_stream[];
  v_dirty_outbox uuid[];
  v_dirty_inbox uuid[];
  v_event_streams uuid[];
  v_expected uuid[];
  v_versions wh_stream_version[] := '{}';
  v_outbox_appends uuid[];
  v_inbox_appends uuid[];
begin
  if cardinality(v_inbox) > 0 then
    v_inbox := wh_deduplicate(v_inbox);
  end if;
  v_inbox_opening := case when p_inbox_room > 0 then v_inbox else '{}' end;
  v_opened := wh_open_streams(c, v_outbox_opening, v_inbox_opening, p_outbox_arrivals, p_inbox_arrivals,
    p_outbox_room, p_inbox_room, p_outbox_floor, p_inbox_floor,
    wh_partitions_with_room(c, array(select m.partition_number from unnest(v_outbox_opening || v_inbox_opening) m)));
  v_streams := v_opened;
  r.outbox_admitted := wh_admissible('outbox', p_outbox_arrivals, v_streams);
  r.inbox_admitted := wh_admissible('inbox', p_inbox_arrivals, v_streams);

  -- The events, of which there may be none.
  v_expected := array(select distinct n.stream_id from unnest(p_outbox || v_inbox) n where n.is_event and n.stream_id is not null and n.expected_version is not null);
  v_event_streams := array(
    select n.stream_id from unnest(v_outbox_opening) n join unnest(v_streams) s on s.lane = 'outbox' and s.stream_id = n.stream_id where n.is_event
    union
    select n.stream_id from unnest(v_inbox_opening) n join unnest(v_streams) s on s.lane = 'inbox' and s.stream_id = n.stream_id where n.is_event
    union
    select a.stream_key from unnest(r.outbox_admitted || r.inbox_admitted) a where a.appends
  );
  if cardinality(v_event_streams) + cardinality(v_expected) > 0 then
    v_versions := wh_lock_versions(v_event_streams, v_expected);
  end if;
  v_event_streams := array(select unnest(v_event_streams) except select v.stream_id from unnest(v_versions) v);

  -- Which of the open streams are clear.
  v_dirty_outbox := wh_dirty_outbox(
    array(select s.stream_id from unnest(v_streams) s where s.lane = 'outbox' and s.held and not s.fresh),
    array(select s.head from unnest(v_streams) s where s.lane = 'outbox' and s.held and not s.fresh),
    array(select s.stream_id from unnest(v_streams) s where s.lane = 'outbox' and s.held and s.fresh), p_outbox_floor);
  v_dirty_inbox := wh_dirty_inbox(
    array(select s.stream_id from unnest(v_streams) s where s.lane = 'inbox' and s.held and not s.fresh),
    array(select s.head from unnest(v_streams) s where s.lane = 'inbox' and s.held and not s.fresh),
    array(select s.stream_id from unnest(v_streams) s where s.lane = 'inbox' and s.held and s.fresh), p_inbox_floor);
  if cardinality(v_dirty_outbox) + cardinality(v_dirty_inbox) + cardinality(v_event_streams) > 0 then
    v_streams := wh_usable_streams(v_streams, v_dirty_outbox, v_dirty_inbox, v_event_streams);
    r.outbox_admitted := wh_admissible('outbox', r.outbox_admitted, v_streams);
    r.inbox_admitted := wh_admissible('inbox', r.inbox_admitted, v_streams);
  end if;

  if cardinality(p_outbox) > 0 then
    r.outbox_items := wh_store_outbox(c, p_outbox, v_streams, p_outbox_room);
    r.outbox_unused := wh_unused_streams('outbox', v_opened, cardinality(p_outbox), r.outbox_items);
  end if;
  if cardinality(v_inbox) > 0 then
    r.inbox_items := wh_store_inbox(c, v_inbox, v_streams, p_inbox_room);
    r.inbox_unused := wh_unused_streams('inbox', v_opened, cardinality(v_inbox), r.inbox_items);
  end if;
  if cardinality(v_versions) > 0 then
    v_outbox_appends := array(select a.message_id from unnest(r.outbox_admitted) a where a.appends);
    v_inbox_appends := array(select a.message_id from unnest(r.inbox_admitted) a where a.appends);
    perform wh_append_events(v_versions, p_outbox, v_inbox, v_outbox_appends, v_inbox_appends);
    r.appended := v_outbox_appends || v_inbox_appends;
  end if;
  perform wh_lower_heads(c, 'outbox', r.outbox_admitted);
  perform wh_lower_heads(c, 'inbox', r.inbox_admitted);
  return r;
end
$$;
