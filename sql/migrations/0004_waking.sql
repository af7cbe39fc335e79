-- How many streams of each lane the caller could begin at once: so many it may take of others' partitions, without waiting.
alter type wh_call add attribute outbox_spare int, add attribute inbox_spare int;
