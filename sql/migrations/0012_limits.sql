-- Limits of receptors: what waits at a limit, and the limits that hold over all instances. See docs/decisions/0048.

-- The limit with its key at which an instance has left the message: the handler's name, U+001F, the key. Null: none has.
alter table wh_inbox add column waits_at text collate "C";

-- One row per limit over all instances, and key. The message that is let in writes it; every update is HOT.
create table wh_limits (
  limit_name text collate "C" not null,
  limit_key text collate "C" not null,
  -- Messages that were let in. One whose lease has ended, or that is gone, has left.
  holders uuid[] not null default '{}',
  -- When messages were let in, and how many at each time: at most 100 times of the last perSeconds.
  entered_at timestamptz[] not null default '{}',
  entered_count int[] not null default '{}',
  -- Its rate has forgotten all by then: after it, and without holders, the row may go.
  idle_from timestamptz not null default '-infinity',
  primary key (limit_name, limit_key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- Keys under which a message is sent only once within a time. See docs/decisions/0049.
create table wh_unique_keys (
  unique_key text collate "C" primary key,
  -- The first message. It may be done, or given up, or gone.
  message_id uuid not null,
  expires_at timestamptz not null
);

create index wh_unique_keys_expired on wh_unique_keys (expires_at);
