-- Decides what becomes of streams that the caller holds and has locked: nothing left, the row goes; nothing
-- held, the stream is free again; something held, the row stays untouched.
-- The row was locked by an earlier statement, so this one sees every message that was admitted under the lock
-- before; one committed later is not admitted yet and will open the stream anew. Nothing is stranded.
-- Reads by wh_{lane}_stream, from head to held_through.
create or replace function wh_settle_{lane}(c wh_call, p_stream_ids uuid[], p_cooling uuid[])
returns void
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_emptied uuid[];
  v_freed uuid[];
  v_heads bigint[];
  v_scheduled timestamptz[];
  v_forgotten uuid[];
begin
  with looked as (
    select s.stream_id, f.sequence_order as head, f.scheduled_for,
      case when f.instance_id = c.instance_id and f.lease_expiry > c.now then f.lease_expiry
           when f.sequence_order is not null then (
             select max(h.lease_expiry)
             from wh_{lane} h
             where h.stream_key = s.stream_id and h.sequence_order between f.sequence_order and s.held_through
               and h.processed_at is null and h.instance_id is not null)
      end as held_until
    from wh_active_streams s
    left join lateral (
      select m.sequence_order, m.scheduled_for, m.instance_id, m.lease_expiry
      from wh_{lane} m
      where m.stream_key = s.stream_id and m.sequence_order >= least(s.head, c.{lane}_floor) and m.processed_at is null
      order by m.sequence_order
      limit 1
    ) f on true
    where s.lane = '{lane}' and s.stream_id = any(p_stream_ids) and s.instance_id = c.instance_id
  )
  select array_agg(l.stream_id) filter (where l.head is null),
         array_agg(l.stream_id) filter (where l.head is not null and coalesce(l.held_until <= c.now, true)),
         array_agg(l.head) filter (where l.head is not null and coalesce(l.held_until <= c.now, true)),
         array_agg(l.scheduled_for) filter (where l.head is not null and coalesce(l.held_until <= c.now, true)),
         array_agg(l.stream_id) filter (where l.held_until <= c.now)
  into v_emptied, v_freed, v_heads, v_scheduled, v_forgotten
  from looked l;

  if v_emptied is not null then
    delete from wh_active_streams s where s.stream_id = any(v_emptied) and s.lane = '{lane}';
  end if;
  perform wh_release_{lane}(v_forgotten);
  if v_freed is not null then
    update wh_active_streams s
    set instance_id = null, lease_expiry = null, head = f.head, held_through = 0,
        available_at = greatest(f.scheduled_for, case when s.stream_id = any(p_cooling) then c.now + interval '1 microsecond' else c.now end)
    from unnest(v_freed, v_heads, v_scheduled) as f(stream_id, head, scheduled_for)
    where s.stream_id = f.stream_id and s.lane = '{lane}';
  end if;
end
$$;
