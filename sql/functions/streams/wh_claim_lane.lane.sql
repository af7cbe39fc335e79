-- Looks at up to p_look due streams and leases up to p_room of their messages to the caller.
-- Each stream gives its lowest messages, up to the first that has to wait or that the caller has no handler for. The
-- streams share the room in turns. A stream that begins with such a message is left to others. A stream that waited at
-- a limit gives its first message only.
-- p_next: streams that the caller holds and has locked, and of which it holds no message any more (wh_settle_{lane}).
-- The claim goes on with them as if they had been freed just now: behind all that are due. Those for which there is no
-- room are freed.
-- p_appended: plainly inserted events that this call has appended. An event is not handed out before it is appended.
-- Locks: stream rows, skip locked; then their messages, which no other call changes meanwhile.
-- Reads by: as wh_lock_due_streams; messages by wh_{lane}_stream, from the stream's head or the first unadmitted
--   message.
-- Raises: none
-- Called by: wh_claim_all_{lane}
create or replace function wh_claim_{lane}(c wh_call, p_room int, p_look int, p_appended uuid[], p_next uuid[])
returns wh_claimed
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  c_all constant bigint := {Everything};
  v_due wh_due := wh_lock_due_streams(c, '{lane}', p_look, c.{lane}_free_from, c.{lane}_leased_from);
  v_places int := p_room - cardinality(v_due.stream_ids);
  v_next uuid[] := p_next[:v_places];
  v_streams uuid[] := v_due.stream_ids || v_next;
  -- It looks at twice an even share of each stream, because others may have less, and at one more to know of more.
  v_look int := {messages_per_stream};
  v_message_ids uuid[];
  v_kept_until timestamptz;
  v_taken uuid[];
  v_heads bigint[];
  v_through bigint[];
  v_blocked uuid[];
  v_blocked_heads bigint[];
  v_until timestamptz[];
  v_left uuid[];
  v_left_heads bigint[];
  v_handlers text[];
  v_emptied uuid[];
  v_last wh_call := c;
begin
  if cardinality(p_next) > v_places then
    -- Due a moment later than all others, so that another look does not find them first.
    v_last.now := c.now + interval '1 microsecond';
    perform wh_free_streams(v_last, '{lane}', p_next[v_places + 1:], null, null, null);
  end if;
  if v_streams = '{}' then
    return row('{}', 0, 0, false, '{}')::wh_claimed;
  end if;
  -- The streams are locked. The new snapshot of this statement shows all that was admitted to them.
  with looked as (
    select k.stream_id, k.turn, k.stream_id = any(v_next) as is_next, s.head as known_head, s.held_through, s.lease_expiry,
      {messages_in_order}
    from unnest(v_streams) with ordinality as k(stream_id, turn)
    cross join lateral {newest_version} s
    -- A lateral join with a limit stays one probe per row; an exists may become a join over the whole table.
    left join lateral (
      select m.message_id, m.sequence_order,
        {message_waits_until} as until,
        {waits_for} as handler
      from wh_{lane} m
      {message_is_looked_at}
    ) m on true
  ), shared as materialized (
    select l.*, {messages_share_room}
    from looked l
  ), stream as (
    select l.stream_id, min(l.sequence_order) as head, bool_or(l.is_taken) as is_taken,
      -- Fewer than the limit: all that is there. Later messages may then be held without writing this row.
      case when max(l.place) < v_look then c_all else max(l.sequence_order) end as through,
      min(l.lease_expiry) filter (where l.is_next and l.lease_expiry >= c.fresh_from) as lease_expiry,
      bool_and(l.is_next and l.lease_expiry >= c.fresh_from and l.sequence_order >= l.known_head
        and (not l.is_taken or l.sequence_order <= l.held_through))
        and (max(l.place) < v_look or min(l.held_through) < c_all) as is_kept,
      {what_stream_waits_for}
    from shared l
    group by l.stream_id
  )
  select array_agg(t.stream_id) filter (where t.head is null),
         array_agg(t.stream_id) filter (where t.until is not null),
         array_agg(t.head) filter (where t.until is not null),
         array_agg(t.until) filter (where t.until is not null),
         array_agg(t.stream_id) filter (where t.until is null and t.handler is not null),
         array_agg(t.head) filter (where t.until is null and t.handler is not null),
         array_agg(t.handler) filter (where t.until is null and t.handler is not null),
         array_agg(t.stream_id) filter (where t.is_taken and not t.is_kept),
         array_agg(t.head) filter (where t.is_taken and not t.is_kept),
         array_agg(t.through) filter (where t.is_taken and not t.is_kept),
         min(t.lease_expiry) filter (where t.is_taken),
         (select array_agg(h.message_id) from shared h where h.is_taken)
  into v_emptied, v_blocked, v_blocked_heads, v_until, v_left, v_left_heads, v_handlers, v_taken, v_heads, v_through, v_kept_until, v_message_ids
  from stream t;

  if v_due.expired <> '{}' then
    -- Not the streams for which there was no room: they stay with their holder.
    perform wh_release_{lane}(
      array(select unnest(v_due.expired) intersect select unnest(v_taken || v_blocked || v_left || v_emptied)), coalesce(v_message_ids, '{}'));
  end if;
  if v_emptied is not null then
    perform wh_close_{lane}(c, v_emptied);
  end if;
  if v_blocked is not null then
    perform wh_block_streams('{lane}', v_blocked, v_blocked_heads, v_until);
  end if;
  if v_left is not null then
    perform wh_leave_streams('{lane}', v_left, v_left_heads, v_handlers);
  end if;
  if v_taken is not null then
    perform wh_hold_streams(c, '{lane}', v_taken, v_heads, v_through);
  end if;
  if v_message_ids is not null then
    -- A stream that the caller goes on with keeps its lease while that is fresh, and mostly its whole row.
    c.lease_expiry := coalesce(v_kept_until, c.lease_expiry);
    perform wh_lease_{lane}(c, v_message_ids);
  end if;
  return row(coalesce(v_message_ids, '{}'), coalesce(cardinality(v_left), 0),
    coalesce(cardinality(v_emptied), 0) + coalesce(cardinality(v_blocked), 0) + coalesce(cardinality(v_left), 0), false, v_due.limits)::wh_claimed;
end
$$;
