-- What the runtime needs beyond the call: waking workers that sleep, receiving what other schemas send, claiming only what
-- the caller has a handler for, one service per schema, and the story of what failed.

-- A trigger wants its function at once; sql/functions/wh_wake_sleepers.sql has the real text, applied after this.
create function wh_wake_sleepers() returns trigger language plpgsql as $$ begin return null; end $$;

create trigger wh_outbox_wake after insert on wh_outbox for each statement execute function wh_wake_sleepers();
create trigger wh_inbox_wake after insert on wh_inbox for each statement execute function wh_wake_sleepers();

-- Which addresses this service receives, by the instance that said so. They outlive the instances: what is sent while none
-- runs is received all the same. subscribed_at: -infinity once the instance has said goodbye.
create table wh_subscriptions (
  address text collate "C" not null,
  instance_id uuid not null,
  subscribed_at timestamptz not null default clock_timestamp(),
  primary key (address, instance_id)
);

-- A free stream whose first message an instance has met that has no handler for it: the name of that handler. Such a stream is
-- found by instances that have it, through an index of its own, and costs the others nothing.
alter table wh_active_streams add column waits_for text collate "C";

drop index wh_active_streams_free;
create index wh_active_streams_free on wh_active_streams (lane, available_at) where instance_id is null and waits_for is null;
create index wh_active_streams_waiting on wh_active_streams (lane, waits_for, available_at)
  where instance_id is null and waits_for is not null;

-- The handlers that the caller has for messages of the inbox; null: all.
alter type wh_call add attribute inbox_handlers text[];

-- Whether anything was unadmitted, and anything due, when the call began: most often nothing, and the steps for it are left out.
alter type wh_call add attribute outbox_arrived boolean, add attribute outbox_due boolean,
  add attribute inbox_arrived boolean, add attribute inbox_due boolean;

-- What one look at the due streams of a lane came to: messages leased, and streams left to those that have a handler.
create type wh_claimed as (message_ids uuid[], left_streams int);

-- Streams that a call has locked, with their partitions.
create type wh_locked as (stream_ids uuid[], partitions int[]);

-- The story of a message that failed: [{at, attempt, instance_id, error}], the first failure and the last nine. Null: none.
alter table wh_outbox add column failures jsonb;
alter table wh_inbox add column failures jsonb;
alter table wh_dead_letters add column failures jsonb;

-- How often whoever ran the message died or stalled. Null: never.
alter table wh_inbox add column interruptions int;

-- Whether it has begun to publish and handle for its service, of which a schema has one. One that only sends has not.
alter table wh_service_instances add column has_joined boolean not null default false;
