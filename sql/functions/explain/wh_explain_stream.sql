-- Says why a stream does not go on: the reasons of its first unfinished message, of the inbox or else of the outbox; if
-- both have one, also those of the outbox; then what holds it up in perspectives; then the instances, as
-- wh_explain_message.
-- No row: nothing of the stream is unfinished, and no perspective holds it.
-- Locks: none
-- Reads by: wh_inbox_stream, wh_outbox_stream; wh_timers_stream; wh_perspective_checkpoints by primary key; as
--   wh_explain_{lane}.
-- Raises: none
-- Called by: explain-functions.ts
create or replace function wh_explain_stream(p_stream_id uuid)
returns table (step int, code text, is_blocking boolean, text text, since timestamptz, until timestamptz, facts jsonb, remedy text)
language plpgsql stable security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_inbox uuid := (select m.message_id from wh_inbox m where m.stream_key = p_stream_id and m.processed_at is null and m.sequence_order > {BarOrder}
    order by m.sequence_order limit 1);
  v_outbox uuid := (select m.message_id from wh_outbox m where m.stream_key = p_stream_id and m.processed_at is null and m.sequence_order > {BarOrder}
    order by m.sequence_order limit 1);
  v_timer uuid := (select t.message_id from wh_timers t where t.stream_id = p_stream_id order by t.due_at, t.timer_order limit 1);
  v_facts jsonb := jsonb_build_object('lane', null, 'at', v_now, 'stream_id', p_stream_id);
  v_reasons wh_reason[] := '{}';
begin
  if v_inbox is null and v_outbox is null then
    -- A stream that is paused and has no message has its bar.
    v_inbox := (select m.message_id from wh_inbox m where m.stream_key = p_stream_id and m.processed_at is null order by m.sequence_order limit 1);
  end if;
  if v_inbox is not null then
    v_reasons := array(select r::wh_reason from wh_explain_inbox(v_inbox, v_now) r);
  elsif v_outbox is not null then
    v_reasons := array(select r::wh_reason from wh_explain_outbox(v_outbox, v_now) r);
  elsif v_timer is not null then
    v_reasons := array(select r::wh_reason from wh_explain_absent(v_timer, v_now) r);
  end if;
  if v_inbox is not null and v_outbox is not null then
    v_reasons := v_reasons || array(select r::wh_reason from wh_explain_outbox(v_outbox, v_now) r where not r.facts ? 'can_take');
  end if;
  v_reasons := v_reasons || array(
    select (case when k.retry_at > v_now then 'scheduled' else 'held' end, false,
      format('The perspective %s is held at version %s: %s', k.perspective_name, k.failed_version, coalesce(split_part(k.error, e'\n', 1), 'no error')),
      k.held_since, k.retry_at, v_facts || jsonb_build_object('perspective', k.perspective_name, 'version', k.failed_version, 'event', k.failed_type, 'attempts', k.attempts),
      wh_command('perspectives', 'retry', split_part(k.perspective_name, '@', 1), coalesce(k.model_key, p_stream_id::text)))::wh_reason
    from wh_perspective_checkpoints k
    where k.stream_id = p_stream_id and k.held and k.failed_version is not null
    order by k.held_since);
  return query
  select row_number() over (order by r.facts ? 'can_take', r.place)::int, r.code, r.is_blocking, r.text, r.since, r.until, r.facts, r.remedy
  from unnest(v_reasons) with ordinality as r(code, is_blocking, text, since, until, facts, remedy, place)
  order by 1;
end
$$;
