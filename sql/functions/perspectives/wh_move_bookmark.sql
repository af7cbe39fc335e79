-- Stores what a perspective has made of a batch, and moves its bookmark, all in one statement. Then returns what comes
-- next, as wh_take_bookmark does. Null: the caller does not hold the bookmark at this place any more; nothing was
-- stored.
-- p_move: {tick, upto: where it is, fence, to_tick, to_upto, swept, part: where it moves to, events: how many were
-- applied, is_ahead: the caller reads by wh_read_ahead what comes next in the sweep}
-- If is_ahead, and that is what comes next, next is {mode: 'ahead'}.
-- p_results: {models, holds, passed, applied, freed: as wh_write_models and wh_hold_models, messages: as wh_send}
-- p_goes_on false: the bookmark is released, and nothing is returned as next.
-- Locks: the row of the bookmark, waiting; checkpoint rows; model rows by id; then as wh_send.
-- Reads by: primary key; as wh_next_batch.
-- Raises: what a column or a constraint of the model's table raises; WB001; serialization_failure
-- Called by: perspective-functions.ts
create or replace function wh_move_bookmark(
  p_instance_id uuid, p_name text, p_from_partition int, p_move jsonb, p_results jsonb, p_lease_seconds int, p_limit int, p_goes_on boolean
)
returns json
language plpgsql security definer
set search_path from current
-- Row by row, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set plan_cache_mode = force_generic_plan
as $$
declare
  p wh_perspectives;
  b wh_perspective_bookmarks;
  v_events int := coalesce((p_move ->> 'events')::int, 0);
  v_to_partition int;
  v_next json;
  v_now timestamptz;
begin
  delete from wh_perspective_bookmarks x
  where x.name = p_name and x.from_partition = p_from_partition and x.tick = (p_move ->> 'tick')::bigint and x.upto = (p_move ->> 'upto')::bigint
    and x.instance_id = p_instance_id and x.fence = (p_move ->> 'fence')::bigint
  returning x.* into b;
  if b.name is null then
    return null;
  end if;
  select x.* into p from wh_perspectives x where x.name = p_name;
  if p_results ?| array['holds', 'passed', 'applied', 'freed'] then
    perform wh_hold_models(p_name, p_results -> 'holds', p_results -> 'passed', p_results -> 'applied', p_results -> 'freed');
  end if;
  if p_results ? 'models' then
    if p.is_inline then
      -- An application may have the model of a stream in its open transaction: nobody waits for that.
      perform set_config('lock_timeout', '50ms', true);
    end if;
    perform wh_write_models(p, p_results -> 'models');
  end if;
  if p_results ? 'messages' then
    perform wh_send(p_results -> 'messages');
  end if;
  v_now := clock_timestamp();
  b.tick := (p_move ->> 'to_tick')::bigint;
  b.upto := (p_move ->> 'to_upto')::bigint;
  b.swept := (p_move ->> 'swept')::bigint;
  b.part_stream_id := (p_move #>> '{part,stream_id}')::uuid;
  b.part_version := (p_move #>> '{part,version}')::bigint;
  -- A retry leaves the bookmark where it is: who took it before that retry does not hold it any more either.
  b.fence := b.fence + 1;
  b.interruptions := 0;
  b.failures := 0;
  b.failing_since := null;
  b.last_error := null;
  b.careful := greatest(b.careful - greatest(v_events, 1), 0);
  if b.applied_since < v_now - interval '1 minute' then
    b.applied_since := b.moved_at;
    b.applied := 0;
  end if;
  b.applied := b.applied + v_events;
  b.moved_at := v_now;
  if p_goes_on then
    v_to_partition := b.to_partition;
    b := wh_split_bookmark(p, b);
    if (p_move ->> 'is_ahead')::boolean and b.swept is not null and b.to_partition = v_to_partition and b.careful = 0 and not p.is_paused then
      v_next := json_build_object('mode', 'ahead');
    else
      v_next := wh_next_batch(p, b, p_limit);
    end if;
    if v_next is null then
      perform wh_caught_up(p, b);
    end if;
  end if;
  if v_next is null then
    b.instance_id := null;
    b.lease_expiry := null;
  else
    b.lease_expiry := v_now + make_interval(secs => p_lease_seconds);
  end if;
  insert into wh_perspective_bookmarks select b.*;
  return json_build_object('tick', b.tick, 'upto', b.upto, 'fence', b.fence, 'interruptions', 0, 'is_careful', b.careful > 0, 'state', p.state, 'next', v_next);
end
$$;
