-- Returns the next events of a perspective in the order of the log, behind its bookmark; null: there is nothing behind
-- it.
-- A build that is not live reads no further than the live one: so what was announced by one is known to the other. The
-- live one reads no further than where another one is about to take over.
-- {mode, tick, upto: where the bookmark moves to, swept: null, events: [event + {announces, held}], models: of their
-- streams, as wh_stream_models}
-- Locks: none
-- Reads by: as wh_read_events; checkpoints and models by primary key.
-- Raises: none
-- Called by: wh_next_batch
create or replace function wh_next_logged(p wh_perspectives, b wh_perspective_bookmarks, p_limit int)
returns json
language plpgsql
as $$
declare
  v_announces boolean := p.state = any(array['live', 'building']);
  v_has_holds boolean := exists (select from wh_perspective_checkpoints k where k.perspective_name = p.name and k.held);
  v_announced bigint := wh_present_tick(p.announced_tick);
  v_last_tick bigint; -- it reads no further than this
  v_last_upto bigint;
  v_tick bigint;
  v_upto bigint;
  v_events json;
  v_streams uuid[];
begin
  if not v_announces then
    select l.tick, l.upto into v_last_tick, v_last_upto from wh_live_position(p.base_name) l;
  elsif p.halted_until > clock_timestamp() then
    v_last_tick := wh_present_tick(p.halt_tick);
    v_last_upto := p.halt_upto;
  end if;
  if (v_last_tick, v_last_upto) <= (wh_present_tick(b.tick), b.upto) then
    return null;
  end if;
  with part as materialized (
    select r.* from wh_read_events(b.tick, b.upto, p.event_types, p_limit) r
    where v_last_tick is null or (r.tick, r.sequence_number) <= (v_last_tick, v_last_upto)
  ), event as (
    select e.*, v_announces and (e.tick, e.sequence_number) > (v_announced, p.announced_upto) as announces,
           v_has_holds and exists (
             select from wh_perspective_checkpoints k where k.stream_id = e.stream_id and k.perspective_name = p.name and k.held) as held
    from part e
    where e.event_id is not null
      and (b.from_partition = 0 and b.to_partition = 9999 or wh_partition(e.stream_id, 10000) between b.from_partition and b.to_partition)
  ), last as (
    select x.tick, x.sequence_number from part x order by x.tick desc, x.sequence_number desc limit 1
  )
  select json_agg(e order by e.tick, e.sequence_number), array_agg(e.stream_id) filter (where not e.held),
         (select l.tick from last l), (select l.sequence_number from last l)
  into v_events, v_streams, v_tick, v_upto
  from event e;
  if v_tick is null then
    -- Nothing of its types up to there.
    v_tick := v_last_tick;
    v_upto := v_last_upto;
  end if;
  if v_tick is null then
    return null;
  end if;
  return json_build_object('mode', 'log', 'tick', v_tick, 'upto', v_upto, 'swept', null, 'events', coalesce(v_events, '[]'),
    'models', wh_stream_models(p, v_streams));
end
$$;
