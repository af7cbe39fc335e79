-- The state of a stream as a decider has folded it, to be read instead of the events before it. Never the truth: it may be
-- deleted at any time. fold: which code has folded it.
-- state: json, which keeps the order of its keys, as the events have made it.
create table wh_snapshots (
  stream_id uuid not null,
  decider text collate "C" not null,
  fold text collate "C" not null,
  version bigint not null,
  state json not null,
  primary key (stream_id, decider)
) with (fillfactor = 70);
