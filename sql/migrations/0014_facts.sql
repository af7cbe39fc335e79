-- What an instance's claims depend on, and what it has done, written with its heartbeat. Read by the views for operators.

alter table wh_service_instances
  -- When it last asked for work: an instance may beat by renewing alone.
  add column last_call_at timestamptz,
  -- The handlers that it named in its last call; null: it takes all.
  add column inbox_handlers text[],
  -- How many messages of each lane it asked for at most, and how many streams it could begin at once.
  add column outbox_room int,
  add column inbox_room int,
  add column outbox_spare int,
  add column inbox_spare int,
  add column max_partitions int,
  add column takeover_seconds numeric,
  add column lease_seconds int,
  -- What it says of itself: {version, handled, failed, published, calls}, counted since it started.
  add column facts jsonb;
