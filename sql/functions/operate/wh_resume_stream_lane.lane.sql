-- Resumes a stream of this lane: takes the bar away. The stream becomes due for its first message, or its row is
-- deleted; one that somebody holds stays with its holder.
-- Its caller has a transaction id by then (see wh_stamp_call).
-- Locks: the stream row; it waits for a call that has it. Then the bar.
-- Reads by: primary key; wh_{lane}_stream.
-- Raises: none
-- Called by: wh_resume
create or replace function wh_resume_stream_{lane}(p_stream_id uuid)
returns void
language plpgsql
as $$
begin
  perform wh_seize_stream('{lane}', p_stream_id, {BarOrder});
  delete from wh_{lane} m
  where m.stream_key = p_stream_id and m.sequence_order = {BarOrder} and m.processed_at is null and m.status = {Bar};
  perform wh_settle_{lane}(wh_roomless_call(null), array[p_stream_id], false);
end
$$;
