-- The events, also those of archived streams, without payloads. Ask for one stream by version, or for all by sequence_number from a
-- position on.
create or replace view wh_event_list as
select event_id, stream_id, version, event_type, aggregate_type, sequence_number, created_at
from wh_event_store
union all
select event_id, stream_id, version, event_type, aggregate_type, sequence_number, created_at
from wh_event_archive;
