-- Keeping and erasing events: keys of sealed fields, archived and deleted streams. See docs/guide/erasing.md.

-- The key with which the sealed fields of a subject's events are encrypted. Deleting the row erases them, wherever copies
-- of the events are. A subject that is met again gets a new key with another id.
create table wh_subject_keys (
  subject text collate "C" primary key,
  key_id uuid not null default gen_random_uuid() unique,
  -- 256 bits of the server's strong random source; made here, so that no statement has a key as its parameter.
  key bytea not null default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  created_at timestamptz not null default clock_timestamp()
);

-- In which event streams sealed events of a subject may be.
create table wh_subject_streams (
  subject text collate "C" not null,
  stream_id uuid not null,
  primary key (subject, stream_id)
);

create index wh_subject_streams_stream on wh_subject_streams (stream_id);

-- Events of archived streams, with the columns of wh_event_store. Each of them is in a tick, if there are ticks. The view
-- wh_events has both.
create table wh_event_archive (
  like wh_event_store,
  primary key (event_id),
  unique (stream_id, version)
);

create unique index wh_event_archive_sequence on wh_event_archive (sequence_number);

-- The events up to this version were deleted. The row stays, so that versions never begin anew.
alter table wh_event_streams add column deleted_through bigint not null default 0;

create index wh_event_streams_deleted on wh_event_streams (stream_id) where deleted_through > 0;
