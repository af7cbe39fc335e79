-- A message as whoever asks for it sees it. state: waiting, running, retrying, scheduled, blocked, limited, paused,
-- unhandled, givingUp, dead, finished, cancelled or discarded. due_at: when it is tried next. held_by: the instance that has it. behind: the first message of its stream.
create type wh_found_message as (
  message_id uuid,
  state text,
  source text,
  event_type text,
  event_data jsonb,
  scope jsonb,
  stream_id uuid,
  attempts int,
  error text,
  stored_at timestamptz,
  due_at timestamptz,
  held_by uuid,
  behind uuid,
  failures jsonb
);
