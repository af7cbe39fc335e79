-- Writes the failures that are to be tried again: the count, the error and the history. The next attempt comes after
-- the caller's delay. If it gave none, the delay doubles from about a second to five minutes, with jitter.
-- A failure that is not counted only sets the time of the next attempt, and the error if there is one.
-- Locks: message rows of streams that the call has locked.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_report_{lane}
create or replace function wh_retry_{lane}(c wh_call, p_failures wh_failure[])
returns wh_kept
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  r wh_kept;
begin
  with failed as (
    update wh_{lane} m
    set status = m.status | f.completed_status | case when f.counted is false then 0 else {Failed} end,
        attempts = m.attempts + (f.counted is not false)::int,
        error = case when f.counted is false then coalesce(f.error, m.error) else f.error end,
        failures = case when f.counted is false then m.failures else wh_add_failure(m.failures, c, m.attempts + 1, f.error) end,
        scheduled_for = c.now + make_interval(secs => case
          when f.retry_after_seconds is not null then least(greatest(f.retry_after_seconds, -{TenYears}), {TenYears})
          else least(300, power(2, least(m.attempts, 16)) * (0.75 + random() / 2))
        end),
        instance_id = null, lease_expiry = null{back_to_handler}
    from unnest(p_failures) f
    where m.message_id = f.message_id and m.instance_id = c.instance_id
      and m.attempts + 1 = coalesce(f.attempt, m.attempts + 1)
    returning m.message_id, m.stream_key
  )
  select array_agg(f.message_id), array_agg(f.stream_key) into r from failed f;
  return r;
end
$$;
