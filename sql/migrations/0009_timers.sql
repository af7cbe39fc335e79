-- What was sent with a delay waits here, outside its stream, until it is due. See docs/decisions/0042.

create table wh_timers (
  message_id uuid primary key,
  -- In whole milliseconds: a program can pass it on as it has read it.
  due_at timestamptz not null,
  -- Among those of one time, who was sent first is first.
  timer_order bigint not null generated always as identity,
  destination text not null,
  event_type text not null,
  event_data jsonb not null,
  metadata jsonb not null,
  scope jsonb,
  stream_id uuid,
  is_event boolean not null,
  -- Whether it may go straight to the inbox, if only this service listens to it.
  is_direct boolean not null,
  created_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.5);

create index wh_timers_due on wh_timers (due_at, timer_order);
create index wh_timers_stream on wh_timers (stream_id, due_at, timer_order) where stream_id is not null;
