-- Decides what happens to streams that the caller holds and has locked. Nothing is left: the row is deleted. A message
-- is held: the row stays untouched. Nothing is held: the stream is freed, due now or when its first message is.
-- With p_goes_on, streams that the claim of the same call may take are not freed but returned; the claim goes on with
-- them (wh_claim_{lane}).
-- A cooling stream gives out nothing in this call. If a stream is left to others, a sleeping worker is notified.
-- A lease on a message that has run out while the lease of the stream went on is taken off.
-- An earlier statement locked the rows, so this one has a newer snapshot and sees every message that was admitted under
-- the lock before. A message that is committed later is unadmitted and will open the stream again. So no message is
-- stranded.
-- Locks: message rows of streams that the call has locked, and those streams.
-- Reads by: streams by primary key; messages by wh_{lane}_stream, from the stream's head or the first unadmitted
--   message to held_through.
-- Raises: none
-- Called by: process_work_batch, wh_bury_{lane}, wh_cancel_{lane}, wh_resume_stream_{lane}, wh_settle_one
create or replace function wh_settle_{lane}(c wh_call, p_stream_ids uuid[], p_goes_on boolean, p_reported wh_reported default null)
returns uuid[]
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_emptied uuid[];
  v_next uuid[];
  v_freed uuid[];
  v_heads bigint[];
  v_scheduled timestamptz[];
  v_priorities int[];
  v_forgotten uuid[];
  v_for_others boolean;
  v_disordered uuid[];
begin
  if p_stream_ids = '{}' or cardinality(p_stream_ids) = 1 and wh_settle_stream_{lane}(c.instance_id, p_stream_ids[1], (p_reported.finished).orders) then
    return '{}';
  end if;
  with looked as materialized (
    select s.stream_id, f.sequence_order as head, f.scheduled_for, f.priority,
      f.priority is null and s.priority is null as is_unranked,
      s.partition_number % c.{lane}_instances = c.{lane}_rank as is_own,
      s.instance_id = c.instance_id and s.lease_expiry > c.now as is_held,
      coalesce(s.stream_id = any(c.{lane}_cooling), false) or coalesce(f.scheduled_for > c.now, false) as waits,
      case when f.instance_id = c.instance_id and f.lease_expiry > c.now then f.lease_expiry
           when f.sequence_order is not null then (
             select max(h.lease_expiry)
             from wh_{lane} h
             where h.stream_key = s.stream_id and h.sequence_order between f.sequence_order and s.held_through
               and h.processed_at is null and h.instance_id is not null)
      end as held_until,
      {is_disordered} as is_disordered
    from {streams_to_settle} k
    cross join lateral {newest_version} s
    -- A lateral join with a limit stays one probe per row; an exists may become a join over the whole table.
    left join lateral (
      select m.message_id, m.sequence_order, m.scheduled_for, m.instance_id, m.lease_expiry, m.attempts, m.flags, {priority} as priority
      from wh_{lane} m
      where m.stream_key = s.stream_id and {from_first_unfinished}
      order by m.sequence_order
      limit 1
    ) f on true
  ), settled as materialized (
    select l.*, case
        when l.head is null then 'empty'
        when l.held_until > c.now then 'held'
        -- What a claim would find due now: streams of its own partitions, or, without a grace period, of any.
        -- Under a cap on partitions it frees all, so that others get their turn. A stream with a priority takes its
        -- place among the others.
        when p_goes_on and c.max_partitions is null and l.is_unranked and l.held_until is null and l.is_held and not l.waits and (l.is_own or c.takeover_seconds = 0) then 'next'
        else 'free'
      end as fate
    from looked l
  )
  select array_agg(t.stream_id) filter (where t.fate = 'empty'),
         array_agg(t.stream_id) filter (where t.fate = 'next'),
         array_agg(t.stream_id) filter (where t.fate = 'free'),
         array_agg(t.head) filter (where t.fate = 'free'),
         array_agg(t.scheduled_for) filter (where t.fate = 'free'),
         array_agg(t.priority) filter (where t.fate = 'free'),
         array_agg(t.stream_id) filter (where t.held_until <= c.now),
         bool_or(t.is_own is not true and not t.waits) filter (where t.fate = 'free'),
         array_agg(t.stream_id) filter (where t.is_disordered)
  into v_emptied, v_next, v_freed, v_heads, v_scheduled, v_priorities, v_forgotten, v_for_others, v_disordered
  from settled t;

  if v_disordered is not null then
    perform wh_note_disorder_{lane}(c, v_disordered, p_reported);
  end if;

  if v_emptied is not null then
    delete from wh_active_streams s where s.stream_id = any(v_emptied) and s.lane = '{lane}';
  end if;
  if v_freed is not null then
    perform wh_release_{lane}(v_forgotten);
    perform wh_free_streams(c, '{lane}', v_freed, v_heads, v_scheduled, v_priorities);
  end if;
  if v_for_others then
    perform wh_notify_watch();
  end if;
  return coalesce(v_next, '{}');
end
$$;
