-- What operators do, and what they have paused. See docs/decisions/0054.

-- Every action of an operator that changed something.
create table wh_operations (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  -- Who did it, as it was said; else the role and the application of the session.
  who text not null,
  operation text not null,
  target text not null,
  -- How it was before. No payloads.
  before jsonb,
  -- The role of the session, whatever was said.
  role_name text not null default session_user
);

-- What is paused: a type of messages, a stream, or the intake of the service.
create table wh_pauses (
  kind text collate "C" not null,
  -- The type, or the id of the stream; empty for the intake.
  name text collate "C" not null,
  since timestamptz not null default clock_timestamp(),
  who text not null,
  reason text,
  primary key (kind, name)
);

-- The handlers of this lane for which nobody is given a message; an empty name: for all of them. Null: none. It repeats wh_pauses, so that
-- a call, which reads this row anyway, asks no other table.
alter table wh_lanes add column paused text[];
