-- All events, also those of archived streams. Each is in one of the two tables, so a statement sees it once.
create or replace view wh_events as
select event_id, stream_id, version, event_type, aggregate_type, event_data, metadata, scope, sequence_number, created_at, transaction_id
from wh_event_store
union all
select event_id, stream_id, version, event_type, aggregate_type, event_data, metadata, scope, sequence_number, created_at, transaction_id
from wh_event_archive;
