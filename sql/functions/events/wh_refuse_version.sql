-- Refuses the call because a stream is not at the version that its writer expected. The error's detail is JSON.
-- Locks: none
-- Reads by: no table
-- Raises: WB002
-- Called by: wh_number_events
create or replace function wh_refuse_version(p_stream_id uuid, p_expected bigint, p_actual bigint)
returns void
language plpgsql
as $$
begin
  raise exception using
    errcode = 'WB002',
    message = format('stream %s is at version %s, expected %s', p_stream_id, p_actual, p_expected),
    detail = jsonb_build_object('stream_id', p_stream_id, 'expected_version', p_expected, 'actual_version', p_actual)::text,
    hint = 'Another transaction has appended to the stream. Read the stream again, decide again, and send with its new version.';
end
$$;
