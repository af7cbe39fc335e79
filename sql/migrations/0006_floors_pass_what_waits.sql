-- What arrives behind the head of a stream need not be admitted: the floors pass it, when no call can be under way any more that
-- finishes the stream without having seen it.

-- Every message below is committed, or never will be, since before the horizon.
alter table wh_lanes add column committed_below bigint not null default 0;

alter type wh_call add attribute outbox_committed bigint, add attribute inbox_committed bigint;
