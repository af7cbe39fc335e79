-- How far retention has come, and how dead letters are found.

-- One row. Retention goes through the blocks of wh_message_deduplication, a few at a time: next_block is where it goes
-- on, and not before rests_until.
create table wh_retention (
  next_block bigint not null default 0,
  rests_until timestamptz not null default '-infinity'
) with (fillfactor = 50);

insert into wh_retention default values;

create index wh_dead_letters_stream on wh_dead_letters (stream_id, dead_letter_id) where stream_id is not null;
create index wh_dead_letters_type on wh_dead_letters (event_type, dead_letter_id);
