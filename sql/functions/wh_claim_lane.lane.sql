-- Leases up to p_room messages to the caller, of streams that are due, and returns their ids. Each stream gives its lowest messages, up
-- to the first that has to wait; the streams share the room evenly.
-- p_appended: plainly inserted events that this call has appended. An event is not handed out before.
-- Locks: stream rows, skip locked; then their messages, which nobody else touches meanwhile.
-- Reads by wh_{lane}_stream, from the stream's head or the first unadmitted message.
create or replace function wh_claim_{lane}(c wh_call, p_room int, p_appended uuid[])
returns uuid[]
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_due wh_due := wh_lock_due_streams(c, '{lane}', p_room, c.{lane}_free_from, c.{lane}_leased_from);
  v_message_ids uuid[];
  v_taken uuid[];
  v_heads bigint[];
  v_through bigint[];
  v_blocked uuid[];
  v_until timestamptz[];
  v_emptied uuid[];
begin
  if cardinality(v_due.stream_ids) = 0 then
    return '{}';
  end if;
  -- The streams are locked; a new snapshot shows all that was admitted to them.
  with looked as (
    select k.stream_id, m.message_id, m.sequence_order, m.until,
      bool_or(m.until is not null) over (partition by k.stream_id order by m.sequence_order) as waits
    from unnest(v_due.stream_ids) as k(stream_id)
    join wh_active_streams s on s.stream_id = k.stream_id and (s.lane = '{lane}') is true
    left join lateral (
      select m.message_id, m.sequence_order,
        case when m.is_event and m.stream_id is not null and m.status & 2 = 0 and m.message_id <> all(coalesce(p_appended, '{}'))
               then c.now + interval '100 milliseconds'
             when m.scheduled_for > c.now then m.scheduled_for
        end as until
      from wh_{lane} m
      where m.stream_key = s.stream_id and m.sequence_order >= least(s.head, (select wh_first_unadmitted_{lane}(c.{lane}_floor))) and m.processed_at is null
      order by m.sequence_order
      limit greatest(p_room / cardinality(v_due.stream_ids), 1)
    ) m on true
  ), stream as (
    select l.stream_id, min(l.sequence_order) as head,
      max(l.sequence_order) filter (where not l.waits) as through,
      (array_agg(l.until order by l.sequence_order) filter (where l.until is not null))[1] as until
    from looked l
    group by l.stream_id
  )
  select array_agg(t.stream_id) filter (where t.head is null),
         array_agg(t.stream_id) filter (where t.head is not null and t.through is null),
         array_agg(t.until) filter (where t.head is not null and t.through is null),
         array_agg(t.stream_id) filter (where t.through is not null),
         array_agg(t.head) filter (where t.through is not null),
         array_agg(t.through) filter (where t.through is not null),
         (select array_agg(l.message_id) from looked l where not l.waits)
  into v_emptied, v_blocked, v_until, v_taken, v_heads, v_through, v_message_ids
  from stream t;

  if v_due.expired <> '{}' then
    perform wh_release_{lane}(v_due.expired, coalesce(v_message_ids, '{}'));
  end if;
  if v_emptied is not null then
    perform wh_close_{lane}(c, v_emptied);
  end if;
  if v_blocked is not null then
    update wh_active_streams s
    set instance_id = null, lease_expiry = null, held_through = 0, available_at = b.until
    from unnest(v_blocked, v_until) as b(stream_id, until)
    where s.stream_id = b.stream_id and (s.lane = '{lane}') is true;
  end if;
  if v_taken is not null then
    update wh_active_streams s
    set instance_id = c.instance_id, lease_expiry = c.lease_expiry, head = t.head, held_through = t.through
    from unnest(v_taken, v_heads, v_through) as t(stream_id, head, through)
    where s.stream_id = t.stream_id and (s.lane = '{lane}') is true;
    perform wh_lease_{lane}(c, v_message_ids);
  end if;
  return coalesce(v_message_ids, '{}');
end
$$;
