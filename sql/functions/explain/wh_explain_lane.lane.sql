-- Returns why a message of this lane is not running, the most decisive reason first, then one row for each living
-- instance. No row: the lane does not have it.
-- The first message of its stream that has to wait decides about all behind it.
-- Locks: none
-- Reads by: primary keys; messages by wh_{lane}_stream, up to 1 001 before it; as wh_explain_instances_{lane}.
-- Raises: none
-- Called by: wh_explain_message, wh_explain_stream
create or replace function wh_explain_{lane}(p_message_id uuid, p_now timestamptz)
returns setof wh_reason
language plpgsql stable
as $$
declare
  c_order constant text[] := array['held', 'behind-held', 'paused', 'scheduled', 'not-appended', 'no-handler', 'at-limit', 'row-locked', 'nobody-asks',
    'unadmitted', 'below-floor', 'not-mine-yet', 'capped', 'no-room', 'orphaned', 'cooling', 'claimable-now'];
  m wh_{lane};
  s wh_active_streams;
  w wh_{lane};
  v_locked boolean;
  v_before bigint;
  v_instances wh_reason[];
  v_codes text[];
  v_can boolean;
  v_is_silent boolean;
  v_facts jsonb;
begin
  select * into m from wh_{lane} x where x.message_id = p_message_id;
  if not found then
    return;
  end if;
  v_facts := jsonb_build_object('lane', '{lane}', 'at', p_now, 'message_id', m.message_id, 'type', m.event_type, 'stream_id', m.stream_id,
    'target', m.{target}, 'stored_at', m.{stored_at}, 'attempts', m.attempts);
  if m.processed_at is not null then
    return next wh_reason_of_finished('{lane}', m.status, m.processed_at, v_facts);
    return;
  end if;
  select * into s from wh_active_streams x where x.stream_id = m.stream_key and x.lane = '{lane}';
  v_locked := coalesce((select wh_is_locked(x.xmax) from wh_active_streams x where x.stream_id = m.stream_key and x.lane = '{lane}'), false);
  -- The first up to it that waits for its time, or to be appended; else the first of all.
  select (f.x).* into w
  from (
    select x, (x.scheduled_for > p_now) is true or x.is_event and x.stream_id is not null and x.status & {EventStored} = 0 as waits from wh_{lane} x
    where x.stream_key = m.stream_key and x.processed_at is null and x.sequence_order <= m.sequence_order
    order by x.sequence_order limit 1001
  ) f
  order by f.waits desc, (f.x).sequence_order
  limit 1;
  v_before := (select count(*) from (
    select from wh_{lane} x
    where x.stream_key = m.stream_key and x.processed_at is null and x.sequence_order between 1 and m.sequence_order - 1
    order by x.sequence_order limit 1001) b);
  v_instances := array(select i::wh_reason from wh_explain_instances_{lane}(m,
    s.stream_id is not null and m.sequence_order >= s.head and not ({is_unappended}), v_locked, p_now) i);
  select coalesce(bool_or(not i.is_blocking), false), array_agg(distinct i.code),
    max((i.facts ->> 'last_call_at')::timestamptz) filter (where not i.is_blocking) < p_now - interval '10 seconds'
  into v_can, v_codes, v_is_silent
  from unnest(v_instances) i;
  v_codes := case when v_codes <> array['nobody-asks'] then array_remove(v_codes, 'nobody-asks') else array['nobody-asks'] end
    || wh_codes_of_stream('{lane}', s, m.instance_id, w.scheduled_for, w.attempts > 0 or w.status & {BothStages} <> 0, p_now);
  if w.sequence_order = {BarOrder} then
    v_codes := array_replace(v_codes, 'scheduled', 'paused');
  end if;
  if v_is_silent then
    -- Who could take it is alive, and asks for nothing: its event loop may be blocked.
    v_codes := v_codes || array['nobody-asks'];
    v_can := false;
  end if;
  return query
  select r.code, r.is_blocking and not v_can, regexp_replace(r.text, '^it', 'It'), r.since, r.until, case when k.place = 1 then v_facts || r.facts else r.facts end, r.remedy
  from (
    -- What lets it run comes first, if anything does.
    select u.code, row_number() over (
      order by v_can and u.code <> all(array['orphaned', 'cooling', 'claimable-now']), array_position(c_order, u.code)) as place
    from (select distinct x.code from unnest(v_codes) as x(code)) u
  ) k
  cross join lateral wh_reason_of_{lane}(k.code, m, s, w, v_before, v_instances, p_now) r
  order by k.place;
  return query select * from unnest(v_instances);
end
$$;
