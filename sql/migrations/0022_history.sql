-- What became of finished messages, without their payloads: a row each, where the option `history` is set. See docs/operate/history.md.

create table wh_history (
  finished_at timestamptz not null,
  lane text not null,
  message_id uuid not null,
  event_type text not null,
  -- Its address in the outbox, its handler in the inbox.
  target text not null,
  stream_id uuid,
  sequence_order bigint not null,
  status int not null,
  -- How often it failed before, and each failure as in the lanes.
  attempts int not null,
  failures jsonb,
  stored_at timestamptz not null,
  instance_id uuid not null,
  hops jsonb,
  traceparent text
) partition by range (finished_at);

create index wh_history_message on wh_history (message_id);

-- What has no day of its own: no partition was made in time, or the clock went back. So a message never fails because of its history.
create table wh_history_rest partition of wh_history default;
