-- Frees those of these streams, which the caller holds and has locked, in which it holds no message any more; they
-- are due now or when their first message is. A cooling stream is due a moment after this call.
-- A lease on a message that has run out while the stream's went on is taken off.
-- Reads by wh_{lane}_stream, from the stream's head, or the first unadmitted message, to what is held.
create or replace function wh_free_{lane}(c wh_call, p_stream_ids uuid[], p_cooling uuid[])
returns void
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_freed uuid[];
  v_heads bigint[];
  v_scheduled timestamptz[];
  v_forgotten uuid[];
begin
  with looked as (
    select s.stream_id, f.sequence_order as head, f.scheduled_for,
      case when f.instance_id = c.instance_id and f.lease_expiry > c.now then f.lease_expiry
           else (
             select max(h.lease_expiry)
             from wh_{lane} h
             where h.stream_key = s.stream_id and h.sequence_order between f.sequence_order and s.held_through
               and h.processed_at is null and h.instance_id is not null)
      end as held_until
    from wh_active_streams s
    left join lateral (
      select m.sequence_order, m.scheduled_for, m.instance_id, m.lease_expiry
      from wh_{lane} m
      where m.stream_key = s.stream_id and m.sequence_order >= least(s.head, (select wh_first_unadmitted_{lane}(c.{lane}_floor))) and m.processed_at is null
      order by m.sequence_order
      limit 1
    ) f on true
    where s.stream_id = any(p_stream_ids) and s.lane = '{lane}'
  )
  select array_agg(l.stream_id), array_agg(l.head), array_agg(l.scheduled_for), array_agg(l.stream_id) filter (where l.held_until <= c.now)
  into v_freed, v_heads, v_scheduled, v_forgotten
  from looked l
  where l.held_until is null or l.held_until <= c.now;

  if v_freed is null then
    return;
  end if;
  perform wh_release_{lane}(v_forgotten);
  update wh_active_streams s
  set instance_id = null, lease_expiry = null, head = coalesce(f.head, s.head), held_through = 0,
      available_at = greatest(f.scheduled_for, case when s.stream_id = any(p_cooling) then c.now + interval '1 microsecond' else c.now end)
  from unnest(v_freed, v_heads, v_scheduled) as f(stream_id, head, scheduled_for)
  where s.stream_id = f.stream_id and (s.lane = '{lane}') is true;
end
$$;
