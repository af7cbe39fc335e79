-- Perspectives: models that follow from the events of the store. See docs/internals/bookmarks.md.

-- One row for each version of a perspective, and for each time that its models are built again.
create table wh_perspectives (
  -- orders@2; of the third build of this version: orders@2.3.
  name text collate "C" primary key,
  -- What an instance needs to work on it: orders@2.
  code text collate "C" not null,
  base_name text collate "C" not null,
  version int not null,
  build int not null,
  kind text not null check (kind in ('stream', 'keyed', 'custom')),
  is_inline boolean not null,
  event_types text[] not null,
  -- The table of its models; null: its tables are the user's.
  table_name text,
  -- Columns beside the model: {"customer": "text"}.
  columns jsonb not null,
  fingerprint text not null,
  -- building: the first of its name, not caught up yet. live: the one that queries read. beside: it is built while
  -- another one is live. retired: it was live.
  state text not null check (state in ('building', 'beside', 'live', 'retired')),
  is_paused boolean not null default false,
  -- Whether it becomes live by itself when it has caught up.
  switches boolean not null default true,
  -- The first partition of each of its bookmarks.
  cuts int[] not null default '{0}',
  -- The newest tick when it was registered, or the last one that the live build had passed, and which transactions had
  -- ended then: the events of its sweep.
  started_tick bigint not null,
  started_high bigint not null,
  started_next_xid xid8 not null,
  started_open xid8[] not null,
  started_restored bigint not null,
  -- Nothing is announced of events up to here: of history, and of what another build has announced.
  announced_tick bigint not null,
  announced_upto bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  switched_at timestamptz,
  -- It becomes live no earlier than this: the view was in use, or it was still behind.
  switch_after timestamptz not null default '-infinity',
  -- Until halted_until it reads no further than this place: another build is about to take over there.
  halt_tick bigint,
  halt_upto bigint,
  halted_until timestamptz not null default '-infinity',
  -- When an instance with nothing to do last asked for a part of its work.
  split_wanted_at timestamptz not null default '-infinity'
);

-- How far a perspective has read, for a range of partitions. Moved by delete and insert, and looked for newest first: so
-- beside an old snapshot nobody wades through dead versions.
create table wh_perspective_bookmarks (
  name text collate "C" not null,
  from_partition int not null,
  to_partition int not null,
  tick bigint not null,
  upto bigint not null,
  -- Streams that were born up to this number are done; null: there is no sweep, or it is over.
  swept bigint,
  instance_id uuid,
  lease_expiry timestamptz,
  -- Grows with each lease, and whenever what was read behind it is not to be stored any
  -- more: a move names it. It never begins with the same number twice.
  fence bigint not null default extract(epoch from clock_timestamp()) * 1000,
  -- How often whoever had it died or stalled since it was last moved.
  interruptions int not null default 0,
  -- So many events are still taken one by one, because one of them may end its process.
  careful int not null default 0,
  applied bigint not null default 0,
  applied_since timestamptz not null default clock_timestamp(),
  moved_at timestamptz not null default clock_timestamp(),
  primary key (name, from_partition, tick, upto)
) with (fillfactor = 50);

-- A stream, or a model of a key, that is held in a perspective: this row and not the bookmark says how far it is there.
-- last_version: applied. passed_version: handed over by the bookmark.
alter table wh_perspective_checkpoints
  add column held boolean not null default false,
  add column held_since timestamptz,
  add column attempts int not null default 0,
  -- Null: it waits for somebody to act, or for other code.
  add column retry_at timestamptz,
  add column passed_version bigint,
  -- Nothing is announced of events up to this version.
  add column quiet_version bigint not null default 0,
  add column failed_version bigint,
  add column failed_event_id uuid,
  add column failed_type text,
  -- Of a keyed perspective: the key, and the place of the last event that was applied. stream_id is made from the key.
  add column model_key text,
  add column held_tick bigint,
  add column held_upto bigint,
  -- Events that were skipped: [{version, event_id, reason, who, at}].
  add column skipped jsonb;

create index wh_perspective_checkpoints_held on wh_perspective_checkpoints (perspective_name, retry_at) where held;

-- The perspectives for which the instance has code.
alter table wh_service_instances add column perspectives text[];
