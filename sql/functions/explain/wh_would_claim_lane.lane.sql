-- Tells whether the claim of a call would lease a message (claimable-now), and if not, why: a code of explain. First it
-- looks at the stream of the message alone; then it goes through the looks of wh_claim_all_{lane}, five at most, until
-- one meets that stream. partitions: p_taken, and those in which it would have leased something by then. Without a
-- message it goes through all looks.
-- key: what the answer follows from, if it is no-room after one look. The next instance need not look again if its key
-- is the same (p_known): the longest part, if the room is large.
-- Rows that others have locked at this moment count as free.
-- Locks: none
-- Reads by: as wh_would_lock and wh_would_look_{lane}.
-- Raises: none
-- Called by: wh_explain_instances_{lane}
create or replace function wh_would_claim_{lane}(
  c wh_call, p_room int, p_appended uuid[], p_changed wh_active_streams[], p_taken int[], s wh_active_streams, m wh_{lane}, p_known text,
  out code text, out partitions int[], out key text
)
language plpgsql stable
as $$
declare
  c_most constant int := 500;
  v_size int := p_room;
  v_left int := p_room;
  v_gone uuid[] := '{}';
  v_due wh_due := row(array[m.stream_key], '{}', case when s.waits_for = any(c.inbox_limits) then array[m.stream_key] else '{}' end, '{}');
  v_asks boolean; -- at a limit at which its stream would be left first
  l record;
  v_is_first boolean := false;
begin
  partitions := p_taken;
  if m.message_id is not null then
    l := wh_would_look_{lane}(c, p_room, v_due, p_appended, p_changed, m.stream_key, m.sequence_order);
    v_asks := l.left_names[1] = any(c.inbox_limits);
    if m.message_id = any(l.message_ids) or v_asks and l.waiting_id = m.message_id then
      v_is_first := l.first_id = m.message_id and not v_asks is true;
    else
      code := case when l.waiting_id is not null and v_asks is not true then wh_why_waiting_{lane}(l.waiting_id, c.now, p_appended)
                   when v_asks or v_due.limited <> '{}' then 'at-limit'
                   when l.gone <> '{}' then 'unadmitted' -- it lies below what is known of its stream
                   else 'no-room' end;
      return;
    end if;
  end if;
  for v_turn in 1..5 loop
    v_due := wh_would_lock(c, '{lane}', v_size, c.{lane}_free_from, c.{lane}_leased_from, p_changed, v_gone, partitions, false);
    if v_turn = 1 and v_is_first and m.stream_key = any(v_due.stream_ids) then
      code := 'claimable-now'; -- there are no more streams than room, and each gives its first
      return;
    end if;
    if v_turn = 1 and c.max_partitions is null and m.message_id is not null then
      key := md5(row(p_room, v_due, c.inbox_handlers, c.inbox_limits, c.inbox_limit_rooms, p_appended)::text);
      if key = p_known then
        code := 'no-room';
        return;
      end if;
    end if;
    l := wh_would_look_{lane}(c, v_left, v_due, p_appended, p_changed, m.stream_key, m.sequence_order);
    if m.message_id = any(l.message_ids) then
      code := 'claimable-now';
      key := null;
      return;
    end if;
    if c.max_partitions is not null then
      partitions := partitions || array(
        select o.partition_number from wh_active_streams o where o.stream_id = any(l.taken) and o.lane = '{lane}'
        union
        select x.partition_number from unnest(p_changed) x where x.stream_id = any(l.taken));
    end if;
    v_left := v_left - cardinality(l.message_ids);
    exit when v_left <= 0 or cardinality(l.gone) + cardinality(l.left_ids) = 0 or m.stream_key = any(l.taken);
    key := null;
    -- What the look would have changed, for the next one.
    v_gone := v_gone || l.gone || l.taken;
    p_changed := wh_would_leave('{lane}', l.left_ids, l.left_names, p_changed);
    v_size := {next_look};
    if v_due.limits <> '{}' then
      c := wh_spend_limits(c, v_due.limits);
    end if;
  end loop;
  code := case when v_left <= 0 or m.stream_key = any(l.taken) then 'no-room' when v_asks or s.waits_for is not null then 'at-limit'
    when c.max_partitions is not null then 'capped' else 'not-mine-yet' end;
  key := case when code = 'no-room' and v_left <= 0 then key end;
end
$$;
