-- Streams that wait at a limit, or for a handler, are taken by their priority too: see docs/decisions/0050. And names have a length.

drop index wh_active_streams_waiting;
create index wh_active_streams_waiting on wh_active_streams (lane, waits_for, (coalesce(priority, 0)) desc, available_at)
  where instance_id is null and waits_for is not null;

-- A name that no index takes would be refused where a stream waits for its handler, or where a message is given up: in every call, and so for the
-- whole service. It is refused where it is stored.
alter table wh_outbox add constraint wh_outbox_names check (octet_length(event_type) <= 1000 and octet_length(destination) <= 1000) not valid;
alter table wh_inbox add constraint wh_inbox_names check (octet_length(event_type) <= 1000 and octet_length(handler_name) <= 1000) not valid;
alter table wh_timers add constraint wh_timers_names check (octet_length(event_type) <= 1000 and octet_length(destination) <= 1000) not valid;
