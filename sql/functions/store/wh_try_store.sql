-- One try of wh_store: stores new messages and admits plainly inserted ones, in both lanes. The steps: drop inbox
-- duplicates, open stream rows, lock version rows, insert messages (leased where the stream is clear), append events.
-- A lane without room opens no stream: what is stored there is left like a plain insert, so that a call in an
-- application's long transaction holds up no other call. Its events are appended all the same. The same holds for
-- messages that the caller has no handler for.
-- Locks: as the steps that it calls, in the order in which it calls them.
-- Reads by: as the functions that it calls.
-- Raises: WB002, unique_violation
-- Called by: wh_store
create or replace function wh_try_store(
  c wh_call, p_outbox wh_new_message[], p_inbox wh_new_message[], p_outbox_arrivals wh_arrival[], p_inbox_arrivals wh_arrival[],
  p_outbox_held wh_open_stream[], p_inbox_held wh_open_stream[], p_outbox_room int, p_inbox_room int, p_has_events boolean, p_has_scheduled boolean
)
returns wh_stored
language plpgsql
as $$
declare
  r wh_stored;
  v_inbox wh_new_message[] := case when cardinality(p_inbox) > 0 then wh_deduplicate(p_inbox) else p_inbox end;
  v_outbox_opening wh_new_message[] := case when p_outbox_room > 0 then p_outbox else '{}' end;
  v_inbox_opening wh_new_message[] := case when p_inbox_room > 0 then v_inbox else '{}' end;
  v_partitions int[];
  v_opened wh_opened := row('{}', false);
  v_opened_inbox wh_opened;
  v_streams wh_open_stream[];
  v_own wh_open_stream[];
  v_versions wh_stream_version[] := '{}';
  v_deferred uuid[] := '{}';
  v_behind uuid[] := '{}';
  v_appending uuid[] := '{}';
  v_outbox_head bigint;
  v_inbox_head bigint;
  v_inserted wh_inserted;
  v_dirty_outbox uuid[] := '{}';
  v_dirty_inbox uuid[] := '{}';
begin
  if c.inbox_late then
    perform wh_note_arrivals(c, v_inbox);
  end if;
  if c.inbox_handlers is not null then
    v_inbox_opening := wh_pick_handled_messages(c, v_inbox_opening);
  end if;
  if c.max_partitions is not null then
    v_partitions := wh_partitions_with_room(c, array(select m.partition_number from unnest(v_outbox_opening || v_inbox_opening) m));
  end if;
  -- Without room nothing may be leased, also not in streams that the caller holds.
  if v_outbox_opening <> '{}' or p_outbox_arrivals <> '{}' then
    v_opened := wh_open_streams_outbox(c, v_outbox_opening, p_outbox_arrivals, case when p_outbox_room > 0 then p_outbox_held else '{}' end, p_outbox_room, v_partitions);
  end if;
  if v_inbox_opening <> '{}' or p_inbox_arrivals <> '{}' then
    v_opened_inbox := wh_open_streams_inbox(c, v_inbox_opening, p_inbox_arrivals, case when p_inbox_room > 0 then p_inbox_held else '{}' end, p_inbox_room, v_partitions);
    v_opened := row(v_opened.streams || v_opened_inbox.streams, v_opened.has_known or v_opened_inbox.has_known)::wh_opened;
  end if;
  v_streams := v_opened.streams;
  r.outbox_admitted := wh_admissible_outbox(c, p_outbox_arrivals, v_streams);
  r.inbox_admitted := wh_admissible_inbox(c, p_inbox_arrivals, v_streams);
  if r.outbox_admitted <> '{}' then
    r.outbox_admitted := wh_pick_after_own_events(c, r.outbox_admitted, r.inbox_admitted);
  end if;
  if p_has_events then
    v_behind := wh_events_out_of_turn_outbox(c, p_outbox, p_outbox_arrivals, r.outbox_admitted)
      || wh_events_out_of_turn_inbox(c, v_inbox, p_inbox_arrivals, r.inbox_admitted)
      || wh_unappended_streams_inbox(c, array(select distinct m.stream_id from unnest(p_outbox) m where m.is_event and m.stream_id is not null), r.inbox_admitted, true);
  end if;
  if p_has_events or r.outbox_admitted <> '{}' or r.inbox_admitted <> '{}' then
    select e.versions, e.deferred into v_versions, v_deferred
    from wh_open_events(wh_messages_outside(p_outbox, v_behind), wh_messages_outside(v_inbox, v_behind), r.outbox_admitted || r.inbox_admitted) e;
  end if;

  if c.continues and v_inbox_opening <> '{}' and not p_has_scheduled then
    v_own := wh_lock_own_streams(c, v_inbox_opening, v_streams);
    v_streams := v_streams || v_own;
    v_opened.has_known := v_opened.has_known or v_own <> '{}';
  end if;
  -- A new message may be leased at once only in a stream with nothing else unfinished, or behind what the caller holds.
  if cardinality(v_outbox_opening) > 0 then
    v_dirty_outbox := wh_streams_with_other_work_outbox(c, v_streams, v_opened.has_known);
  end if;
  if cardinality(v_inbox_opening) > 0 then
    v_dirty_inbox := wh_streams_with_other_work_inbox(c, v_streams, v_opened.has_known);
  end if;
  if cardinality(v_dirty_outbox) + cardinality(v_dirty_inbox) + cardinality(v_deferred) > 0 then
    v_streams := wh_usable_streams(v_streams, v_dirty_outbox, v_dirty_inbox, v_deferred);
    r.outbox_admitted := wh_admissible_outbox(c, r.outbox_admitted, v_streams);
    r.inbox_admitted := wh_admissible_inbox(c, r.inbox_admitted, v_streams);
  end if;
  if v_behind <> '{}' then
    v_streams := wh_usable_streams(v_streams, '{}', '{}', v_behind);
  end if;
  if v_versions <> '{}' then
    v_appending := array(select v.stream_id from unnest(v_versions) v except select unnest(v_behind));
  end if;

  if v_opened.has_known then
    select o.last_value, n.last_value into v_outbox_head, v_inbox_head from wh_outbox_sequence_order_seq o, wh_inbox_sequence_order_seq n;
  end if;
  if cardinality(p_outbox) > 0 then
    v_inserted := wh_store_outbox(c, p_outbox, v_streams, v_appending, p_outbox_room, p_has_scheduled);
    r.outbox_leased := v_inserted.leased; r.outbox_known := v_inserted.known;
    r.outbox_unused := wh_unused_streams('outbox', v_opened.streams, p_outbox, r.outbox_leased);
  end if;
  if cardinality(v_inbox) > 0 then
    v_inserted := wh_store_inbox(c, v_inbox, v_streams, v_appending, p_inbox_room, p_has_scheduled);
    r.inbox_leased := v_inserted.leased; r.inbox_known := v_inserted.known;
    r.inbox_unused := wh_unused_streams('inbox', v_opened.streams, v_inbox, r.inbox_leased);
  end if;
  if cardinality(v_inbox) < cardinality(p_inbox) then
    r.inbox_known := r.inbox_known || array(select m.message_id from unnest(p_inbox) m except select n.message_id from unnest(v_inbox) n);
  end if;
  if p_has_scheduled then
    perform wh_point_heads_outbox(c, v_opened.streams);
    perform wh_point_heads_inbox(c, v_opened.streams);
  end if;
  if v_opened.has_known then
    r.outbox_busy := wh_renew_busy_streams(c, 'outbox', v_streams, p_outbox, r.outbox_leased, v_outbox_head);
    r.inbox_busy := wh_renew_busy_streams(c, 'inbox', v_streams, v_inbox, r.inbox_leased, v_inbox_head);
  end if;
  if v_versions <> '{}' then
    r.appended := wh_append_events(v_versions, wh_messages_outside(p_outbox, v_behind), wh_messages_outside(v_inbox, v_behind), r.outbox_admitted, r.inbox_admitted);
  end if;
  if r.outbox_admitted <> '{}' then
    perform wh_lower_heads(c, 'outbox', r.outbox_admitted);
  end if;
  if r.inbox_admitted <> '{}' then
    perform wh_lower_heads(c, 'inbox', r.inbox_admitted);
  end if;
  return r;
end
$$;
