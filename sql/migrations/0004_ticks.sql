-- Ticks: one order of all events, in which nothing is skipped and nobody waits. See docs/internals/ticks.md.

-- The transaction that appended the event. 0: appended before this migration, or in another cluster; says nothing.
-- The first default is a constant, so no row is rewritten.
alter table wh_event_store add column transaction_id xid8 not null default '0';
alter table wh_event_store alter column transaction_id set default pg_current_xact_id();

create index wh_event_store_transaction on wh_event_store (transaction_id);

-- Unique: a sequence that was set back must be noticed by the first append.
drop index wh_event_store_sequence;
create unique index wh_event_store_sequence on wh_event_store (sequence_number);

-- Each row seals events whose transactions had ended. Every event is in one row, for ever, and the order of all events is
-- (tick, sequence_number). Rows are changed only under the advisory lock (TickLock, schema).
create table wh_event_ticks (
  tick bigint primary key,
  -- Neighbours that were merged into this row: first_tick to tick.
  first_tick bigint not null,
  -- Which transactions had ended when it was made: those below next_xid, without those in open.
  next_xid xid8 not null,
  open xid8[] not null,
  -- Events up to this number came here with a dump of another cluster: their transaction_id says nothing.
  restored_through bigint not null default 0,
  covers int8multirange not null,
  -- The highest number in this tick and all before it.
  high bigint not null,
  types text[] not null,
  events int not null,
  -- Made by the audit: these events should have been in an earlier tick.
  is_late boolean not null default false,
  sealed_at timestamptz not null default clock_timestamp()
);

-- How far the audit of the ticks has come; at most one row.
create table wh_event_audit (
  id boolean primary key default true check (id),
  -- Up to this tick, and this number, every event is committed, or never will be, and was looked for.
  audited_tick bigint not null default 0,
  audited_high bigint not null default 0,
  -- What they become when every transaction with an id below the horizon has ended.
  noted_tick bigint not null default 0,
  noted_high bigint not null default 0,
  horizon xid8,
  merged_tick bigint not null default 0,
  audited_at timestamptz not null default clock_timestamp()
);
