-- Returns the reasons that follow from the row of a stream alone, whoever asks. p_holder: whose the message was when
-- it was last leased. p_scheduled_for, p_has_begun: of the message of the stream that decides.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_explain_{lane}
create or replace function wh_codes_of_stream(
  p_lane text, s wh_active_streams, p_holder uuid, p_scheduled_for timestamptz, p_has_begun boolean, p_now timestamptz
)
returns text[]
language sql stable
as $$
  select array_remove(array[
    case when s.lease_expiry > p_now then case when p_holder = s.instance_id then 'held' else 'behind-held' end end,
    case when s.lease_expiry <= p_now then 'orphaned' end,
    case when p_scheduled_for > p_now and (s.lease_expiry > p_now) is not true then 'scheduled' end,
    case when s.stream_id is null then 'unadmitted' end,
    case when s.instance_id is null and s.waits_for is null and not s.is_blocked and p_has_begun then 'cooling' end
  ], null)
$$;
