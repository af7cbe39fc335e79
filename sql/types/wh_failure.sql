-- A failure that the caller reports.
create type wh_failure as (
  message_id uuid,
  completed_status int,
  error text,
  retry_after_seconds double precision,
  dead_letter boolean,
  -- The number of the attempt that it is about: a report that comes late must not count against the next one.
  attempt int,
  -- False: nothing has failed since the last report. The message only waits, or is given up. Null is true.
  counted boolean
);
