-- Pauses a stream of this lane: puts a bar before all its messages, a row that is never due. Whatever settles, claims
-- or stores in the stream meets the bar first, and so the stream is blocked without an end, at no cost to others.
-- Messages that somebody holds are finished behind it.
-- Its number is lower than any that a message can have, also one whose transaction commits later.
-- Its caller has a transaction id by then (see wh_stamp_call).
-- Locks: as wh_seize_stream; the new message row.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_pause
create or replace function wh_pause_stream_{lane}(p_stream_id uuid)
returns void
language plpgsql
as $$
begin
  perform wh_seize_stream('{lane}', p_stream_id, {BarOrder});
  insert into wh_{lane} (message_id, {target}, event_type, event_data, stream_id, partition_number, status, sequence_order, scheduled_for)
  select gen_random_uuid(), '', '', '{}', p_stream_id, s.partition_number, {Bar}, {BarOrder}, 'infinity'
  from wh_active_streams s
  where s.stream_id = p_stream_id and s.lane = '{lane}';
  update wh_active_streams s
  set head = {BarOrder},
      is_blocked = s.instance_id is null,
      available_at = case when s.instance_id is null then 'infinity' else s.available_at end,
      waits_for = null
  where s.stream_id = p_stream_id and s.lane = '{lane}';
end
$$;
