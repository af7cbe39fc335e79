-- Makes a build of a perspective: its row, its bookmark, and the table of its models. The first of its name gets the
-- view.
-- A perspective of one stream, over events that are there, is swept: stream by stream, in the order of their births.
-- Whoever registers it may read the table and the view.
-- Locks: the caller has the lock of wh_register_perspective.
-- Reads by: the newest tick by primary key.
-- Raises: duplicate_table
-- Called by: wh_register_perspective
create or replace function wh_build_perspective(p_perspective jsonb, p_build int)
returns wh_perspectives
language plpgsql
as $$
declare
  l wh_event_ticks;
  p wh_perspectives;
  v_is_first boolean;
  -- The last number of that tick, which others before it may have passed: a place within the tick, also when it is merged.
  v_upto bigint;
begin
  select t.* into l from wh_event_ticks t order by t.tick desc limit 1;
  v_upto := coalesce(upper(l.covers) - 1, 0);
  p.base_name := p_perspective ->> 'name';
  p.version := (p_perspective ->> 'version')::int;
  p.build := p_build;
  p.code := format('%s@%s', p.base_name, p.version);
  p.name := p.code || case when p_build > 1 then '.' || p_build else '' end;
  p.kind := p_perspective ->> 'kind';
  p.is_inline := coalesce((p_perspective ->> 'is_inline')::boolean, false);
  p.event_types := array(select jsonb_array_elements_text(p_perspective -> 'event_types'));
  p.fingerprint := p_perspective ->> 'fingerprint';
  p.columns := coalesce(p_perspective -> 'columns', '{}');
  p.table_name := case when p.kind <> 'custom' then format('%s_v%s', p.base_name, p.version) || case when p_build > 1 then '_' || p_build else '' end end;
  v_is_first := not exists (select from wh_perspectives x where x.base_name = p.base_name);
  p.state := case when v_is_first then 'building' else 'beside' end;
  insert into wh_perspectives (name, code, base_name, version, build, kind, is_inline, event_types, table_name, columns, fingerprint, state,
    started_tick, started_high, started_next_xid, started_open, announced_tick, announced_upto)
  values (p.name, p.code, p.base_name, p.version, p.build, p.kind, p.is_inline, p.event_types, p.table_name, p.columns, p.fingerprint, p.state,
    coalesce(l.tick, 0), coalesce(l.high, 0), coalesce(l.next_xid, '0'), coalesce(l.open, '{}'), coalesce(l.tick, 0), v_upto)
  returning * into p;
  insert into wh_perspective_bookmarks (name, from_partition, to_partition, tick, upto, swept)
  select p.name, 0, 9999, case when is_swept then l.tick else 0 end, case when is_swept then v_upto else 0 end, case when is_swept then 0 end
  from (select p.kind = 'stream' and l.tick is not null as is_swept) s;
  if p.table_name is not null then
    perform wh_make_table(p, p_perspective -> 'indexes');
    if v_is_first then
      perform wh_point_view(p, true);
    end if;
  end if;
  return p;
end
$$;
