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
  inbox_noted bigint,
  -- The handlers that the caller has for messages of the inbox; null: all.
  inbox_handlers text[],
  -- Whether anything was unadmitted, and anything due, when the call began: most often nothing, and the steps for it are left out.
  outbox_arrived boolean,
  outbox_due boolean,
  inbox_arrived boolean,
  inbox_due boolean,
  -- How many streams of each lane the caller could begin at once: so many it may take of others' partitions, without waiting.
  outbox_spare int,
  inbox_spare int,
  -- The clock when the call began.
  opened_at timestamptz,
  -- The streams of which this call gives nothing out, because it reported a failure or a part of the work there.
  outbox_cooling uuid[],
  inbox_cooling uuid[],
  -- Whether it has looked at all that is unadmitted.
  outbox_all_seen boolean,
  inbox_all_seen boolean,
  -- Every message below is committed, or never will be.
  outbox_committed bigint,
  inbox_committed bigint,
  -- Whether new messages may be leased to the caller behind those of their stream that it still holds.
  continues boolean,
  -- The limits of receptors of which it asks, and how many streams it may take of each; null: it has none.
  inbox_limits text[],
  inbox_limit_rooms int[],
  -- Whether a free stream of the lane has a priority, or something that the call stores or admits.
  outbox_ranked boolean,
  inbox_ranked boolean,
  -- The handlers of which nothing is handed out (wh_lanes.paused). Null: nothing is paused.
  paused text[],
  -- Whether something that the call stores in the inbox was delivered out of order (arrived_after).
  inbox_late boolean,
  -- How many of a hundred streams leave their finished messages in wh_history. 0: none.
  history int
);
