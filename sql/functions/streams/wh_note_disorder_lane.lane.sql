-- Writes down that what the caller has finished in these streams was out of order: one row per message, a hundred at
-- most.
-- Locks: new rows of wh_order_violations, and as wh_trim_order_violations.
-- Reads by: streams by primary key; messages by wh_{lane}_stream, from the stream's head or the first unadmitted
--   message.
-- Raises: none
-- Called by: wh_settle_{lane}
create or replace function wh_note_disorder_{lane}(c wh_call, p_stream_ids uuid[], p_reported wh_reported)
returns void
language plpgsql
as $$
begin
  insert into wh_order_violations (kind, lane, stream_id, message_id, sequence_order, other_id, other_order, instance_id)
  select case when {head_is_old} and d.sequence_order < s.head then 'too-late' else 'overtook' end, '{lane}', s.stream_id, d.message_id, d.sequence_order,
    case when d.sequence_order > f.sequence_order then f.message_id end,
    case when d.sequence_order > f.sequence_order then f.sequence_order else s.head end, c.instance_id
  from unnest((p_reported.finished).message_ids, (p_reported.finished).stream_ids, (p_reported.finished).orders) as d(message_id, stream_id, sequence_order)
  join wh_active_streams s on s.stream_id = d.stream_id and s.lane = '{lane}'
  left join lateral (
    select m.message_id, m.sequence_order from wh_{lane} m
    where m.stream_key = s.stream_id and {from_first_unfinished}
    order by m.sequence_order
    limit 1
  ) f on true
  where s.stream_id = any(p_stream_ids) and ({head_is_old} and d.sequence_order < s.head or d.sequence_order > f.sequence_order)
  order by d.sequence_order
  limit 100;
  perform wh_trim_order_violations();
end
$$;
