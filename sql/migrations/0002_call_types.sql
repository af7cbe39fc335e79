-- The shapes in which a call's parts travel between the steps of process_work_batch.

-- One row of the result: an item newly leased to the caller, or (flag LeaseLost) one it does not hold.
create type wh_work_item as (
  source text,
  message_id uuid,
  stream_id uuid,
  partition_number int,
  destination text,
  event_type text,
  event_data jsonb,
  metadata jsonb,
  scope jsonb,
  status int,
  flags int,
  attempts int,
  sequence_order bigint,
  lease_expiry timestamptz
);

-- Who calls, when, and what it may take: made once per call, read by every step.
create type wh_call as (
  instance_id uuid,
  now timestamptz,
  lease_seconds int,
  lease_expiry timestamptz,
  fresh_from timestamptz,
  keeps_completed boolean,
  partition_count int,
  outbox_rank int,
  outbox_instances int,
  inbox_rank int,
  inbox_instances int,
  stale_instances int,
  takeover_seconds numeric,
  max_partitions int,
  outbox_floor bigint,
  outbox_admit_from bigint,
  outbox_free_from timestamptz,
  outbox_leased_from timestamptz,
  inbox_floor bigint,
  inbox_admit_from bigint,
  inbox_free_from timestamptz,
  inbox_leased_from timestamptz,
  sweeps boolean,
  noted_at timestamptz,
  outbox_noted bigint,
  inbox_noted bigint
);

-- A message to store, as parsed; ord is its place in the caller's array.
create type wh_new_message as (
  ord int,
  message_id uuid,
  target text,
  event_type text,
  event_data jsonb,
  metadata jsonb,
  scope jsonb,
  stream_id uuid,
  is_event boolean,
  scheduled_for timestamptz,
  expected_version bigint,
  stream_key uuid,
  partition_number int
);

-- The messages that the caller reports as completed with one and the same status.
create type wh_completion as (status int, message_ids uuid[]);

-- A failure that the caller reports.
create type wh_failure as (
  message_id uuid,
  completed_status int,
  error text,
  retry_after_seconds double precision,
  dead_letter boolean
);

-- A plainly inserted message that no coordinator has seen.
create type wh_arrival as (
  message_id uuid,
  stream_key uuid,
  partition_number int,
  sequence_order bigint,
  appends boolean
);

-- A stream that this call has opened or locked; what it may do with messages stored there.
create type wh_open_stream as (
  lane text,
  stream_id uuid,
  fresh boolean,
  held boolean,
  lease_expiry timestamptz,
  head bigint,
  held_through bigint
);

-- The streams that a call has opened or locked; whether there are some that existed before.
create type wh_opened as (streams wh_open_stream[], has_known boolean);

create type wh_stream_version as (stream_id uuid, version bigint);

-- What the reports on one lane came to: messages that the caller does not hold, and streams that give nothing
-- out in this call.
create type wh_reported as (lost uuid[], cooling uuid[]);

-- Messages that a report has changed, and their streams.
create type wh_kept as (message_ids uuid[], stream_ids uuid[]);

-- The messages to store, as parsed, and whether there are events or scheduled ones among them.
create type wh_parsed as (messages wh_new_message[], has_events boolean, has_scheduled boolean);

-- All that a call says about one lane, as parsed. reported: the ids that it completes, fails or renews.
create type wh_request as (
  messages wh_new_message[], has_events boolean, has_scheduled boolean,
  completions wh_completion[], failures wh_failure[], renewed uuid[], reported uuid[]
);

-- What a call's storing came to, by lane: messages leased at once, streams made in vain, streams held before and
-- busy again, arrivals to mark as admitted; and the arrivals that were appended to the event store.
create type wh_stored as (
  outbox_leased uuid[], outbox_unused uuid[], outbox_busy uuid[], outbox_admitted wh_arrival[],
  inbox_leased uuid[], inbox_unused uuid[], inbox_busy uuid[], inbox_admitted wh_arrival[],
  appended uuid[]
);

-- Streams of one lane that the caller may take now: all, and those among them whose lease has run out.
create type wh_due as (stream_ids uuid[], expired uuid[]);
