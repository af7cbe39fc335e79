-- Stores new messages, in array order, and leases to the caller at once those whose stream it holds for them.
-- A message in a stream that is not open is stored like a plain insert: unadmitted. The id of an unfinished message is
-- left out. Returns the ids that were leased, and those left out.
-- Locks: new message rows by message_id; it waits for a call that stores the same id.
-- Reads by: primary key.
-- Raises: unique_violation if that call commits (wh_store tries again).
-- Called by: wh_try_store
create or replace function wh_store_{lane}(
  c wh_call, p_messages wh_new_message[], p_streams wh_open_stream[], p_appending uuid[], p_room int, p_has_scheduled boolean
)
returns wh_inserted
language plpgsql
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
declare
  v_last_ord int := {LargestInt};
  v_blocked_keys uuid[];
  v_blocked_ords int[];
  v_leased uuid[];
  v_present uuid[] := array(
    select x.message_id
    from (
      select m.message_id, m.processed_at from wh_{lane} m
      where m.message_id = any(array(select n.message_id from unnest(p_messages) n))
      offset 0 -- keeps the condition below out, which would fit a partial index and read all of it
    ) x
    where x.processed_at is null);
begin
  if p_room = 0 then
    v_last_ord := 0;
  elsif cardinality(p_messages) > p_room then
    select coalesce(min(h.ord), {LargestInt}) into v_last_ord
    from (
      select m.ord, row_number() over (order by m.ord) as place
      from unnest(p_messages) m
      join unnest(p_streams) s on s.lane = '{lane}' and s.stream_id = m.stream_key and s.held
    ) h
    where h.place = p_room;
  end if;
  if p_has_scheduled then
    select array_agg(b.stream_key), array_agg(b.ord) into v_blocked_keys, v_blocked_ords
    from (select m.stream_key, min(m.ord) as ord from unnest(p_messages) m where m.scheduled_for > c.now group by m.stream_key) b;
  end if;

  with stored as (
    insert into wh_{lane} (message_id, {target}, event_type, event_data, metadata, scope, stream_id, partition_number,
      is_event, status, flags, sequence_order, scheduled_for, instance_id, lease_expiry, {stored_at}, priority)
    select p.message_id, p.target, p.event_type, p.event_data, p.metadata, p.scope, p.stream_id,
      case when p.admitted then p.partition_number end, p.is_event,
      case when p.is_event and (p.expected_version is not null and p.stream_id is not null or p.stream_id = any(p_appending)) then {Stored} | {EventStored} else {Stored} end,
      case when p.leased then {NewlyStored} | p.behind else 0 end | case when p.priority > 0 then {HighPriority} else 0 end, p.sequence_order, p.scheduled_for,
      case when p.leased then c.instance_id end, case when p.leased then p.lease_expiry end, p.stored_at, p.priority
    from (
      select m.*, s.stream_id is not null as admitted,
        s.held and m.ord <= v_last_ord and coalesce(m.ord < b.ord, true) as leased,
        case when '{lane}' = 'inbox' and c.continues and not s.fresh then {Continues} else 0 end as behind,
        case when s.fresh or s.held_through < {Everything} or s.lease_expiry < c.fresh_from
          then c.lease_expiry else s.lease_expiry end as lease_expiry
      from (
        select n.*, nextval('wh_{lane}_sequence_order_seq') as sequence_order, clock_timestamp() as stored_at
        from (select * from unnest(p_messages) u where u.message_id <> all(v_present) order by u.ord) n
      ) m
      left join unnest(p_streams) s on s.lane = '{lane}' and s.stream_id = m.stream_key
      left join unnest(v_blocked_keys, v_blocked_ords) as b(stream_key, ord) on b.stream_key = m.stream_key
    ) p
    order by p.message_id
    returning case when flags & {NewlyStored} <> 0 then message_id end as leased_id
  )
  select array_agg(s.leased_id) filter (where s.leased_id is not null) into v_leased from stored s;
  return row(v_leased, v_present)::wh_inserted;
end
$$;
