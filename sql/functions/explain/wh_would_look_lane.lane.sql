-- Tells what one look of a claim (wh_claim_{lane}) at these streams would come to: which messages it would lease, in
-- which streams; which streams it would find empty or blocked (gone), and which it would leave to others, and at which
-- name.
-- p_changed: rows in place of those of their streams.
-- first_id: the first message of the stream p_stream_id. waiting_id: its first one up to p_upto that has to wait.
-- Locks: none
-- Reads by: streams by primary key; messages by wh_{lane}_stream, from the stream's head or the first unadmitted
--   message.
-- Raises: none
-- Called by: wh_would_claim_{lane}
create or replace function wh_would_look_{lane}(
  c wh_call, p_room int, v_due wh_due, p_appended uuid[], p_changed wh_active_streams[], p_stream_id uuid, p_upto bigint,
  out message_ids uuid[], out taken uuid[], out gone uuid[], out left_ids uuid[], out left_names text[], out first_id uuid, out waiting_id uuid
)
language plpgsql stable
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_streams uuid[] := v_due.stream_ids;
  v_look int := {messages_per_stream};
begin
  with looked as (
    select k.stream_id, k.turn,
      {messages_in_order}
    from unnest(v_streams) with ordinality as k(stream_id, turn)
    cross join lateral (
      select x.stream_id, x.head from unnest(p_changed) x where x.stream_id = k.stream_id
      union all
      select n.stream_id, n.head from {newest_version} n where not exists (select from unnest(p_changed) x where x.stream_id = k.stream_id)
      limit 1
    ) s
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
      {what_stream_waits_for}
    from shared l
    group by l.stream_id
  )
  select coalesce(array_agg(t.stream_id) filter (where t.head is null or t.until is not null), '{}'),
         coalesce(array_agg(t.stream_id) filter (where t.until is null and t.handler is not null), '{}'),
         coalesce(array_agg(t.handler) filter (where t.until is null and t.handler is not null), '{}'),
         coalesce(array_agg(t.stream_id) filter (where t.is_taken), '{}'),
         (select coalesce(array_agg(h.message_id), '{}') from shared h where h.is_taken),
         (select h.message_id from shared h where h.stream_id = p_stream_id and h.place = 1),
         (select h.message_id from shared h
          where h.stream_id = p_stream_id and h.sequence_order <= p_upto and h.waits order by h.sequence_order limit 1)
  into gone, left_ids, left_names, taken, message_ids, first_id, waiting_id
  from stream t;
end
$$;
