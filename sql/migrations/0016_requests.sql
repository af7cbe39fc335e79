-- Requests: who has sent a command and waits for its answer. See docs/decisions/0051.

create table wh_requests (
  -- The id of the command.
  request_id uuid primary key,
  -- Who waits. Its requests are deleted when it stops, or is removed because it is dead.
  instance_id uuid not null,
  -- {requestId, result} or {requestId, error: {name, message, code?}}. Null: it has not come yet.
  answer jsonb,
  opened_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

create index wh_requests_instance on wh_requests (instance_id);

-- A trigger wants its function at once; wh_meet_request.sql in sql/functions has the real text, applied after this.
create or replace function wh_meet_request() returns trigger language plpgsql as $$ begin return null; end $$;

-- An answer is no work: it goes to whoever waits for it, or nowhere, and never enters the inbox.
create trigger wh_inbox_answer before insert on wh_inbox for each row
  when (new.event_type = '(answer)') execute function wh_meet_request();
