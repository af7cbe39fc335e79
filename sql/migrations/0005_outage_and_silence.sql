-- What is blocked hides nothing, and a clock that goes back strands nothing: streams that wait for a time are told apart from those
-- that are due, so that only the former depend on the clock.

-- Free, and its first message has to wait until available_at. head is exact then: what arrives behind it changes nothing.
alter table wh_active_streams add column is_blocked boolean not null default false;

update wh_active_streams s
set is_blocked = true, head = f.sequence_order
from (
  select distinct on (m.lane, m.stream_key) m.lane, m.stream_key, m.sequence_order, m.scheduled_for
  from (
    select 'outbox' as lane, o.stream_key, o.sequence_order, o.scheduled_for from wh_outbox o where o.processed_at is null
    union all
    select 'inbox', i.stream_key, i.sequence_order, i.scheduled_for from wh_inbox i where i.processed_at is null
  ) m
  order by m.lane, m.stream_key, m.sequence_order
) f
where f.stream_key = s.stream_id and f.lane = s.lane
  and s.instance_id is null and s.waits_for is null and s.available_at > clock_timestamp() and f.scheduled_for > clock_timestamp();

drop index wh_active_streams_free;
create index wh_active_streams_free on wh_active_streams (lane, available_at)
  where instance_id is null and waits_for is null and not is_blocked;
create index wh_active_streams_blocked on wh_active_streams (lane, available_at) where is_blocked;

-- The streams of which this call gives nothing out, because it reported a failure or a part of the work there.
-- Whether it has looked at all that is unadmitted. opened_at: the clock when the call began.
alter type wh_call add attribute opened_at timestamptz, add attribute outbox_cooling uuid[], add attribute inbox_cooling uuid[],
  add attribute outbox_all_seen boolean, add attribute inbox_all_seen boolean;

-- What a look at the unadmitted messages of a lane came to. is_crowd: there are more than a call admits. passed_to: behind the crowd it
-- was looked for what can start, as far as here.
create type wh_arrived as (arrivals wh_arrival[], all_seen boolean, is_crowd boolean, passed_to bigint);

-- tidied_streams: looked at and taken nothing from, as they are blocked, empty or left to others. is_cut: there may be more of those.
alter type wh_claimed add attribute tidied_streams int, add attribute is_cut boolean;

-- The number of the attempt that a failure is about: a report that comes late must not count against the next one.
alter type wh_failure add attribute attempt int;

-- The inbox message that an outbox message came of: it is stored only if this call's report on that one is accepted.
alter type wh_new_message add attribute only_with uuid;
alter type wh_parsed add attribute has_conditions boolean;
alter type wh_request add attribute has_conditions boolean;
