-- Stores the models of streams that were folded again, in the transaction of wh_take_streams. A model that is further,
-- because an append has stored it meanwhile, is left as it is.
-- p_results: as wh_move_bookmark
-- Locks: model rows, by id; checkpoint rows; then as wh_send.
-- Reads by: primary key.
-- Raises: what a column or a constraint of the model's table raises; WB001
-- Called by: build-functions.ts
create or replace function wh_store_streams(p_name text, p_stream_ids uuid[], p_results jsonb)
returns void
language plpgsql security definer
set search_path from current
as $$
declare
  p wh_perspectives;
begin
  select x.* into p from wh_perspectives x where x.name = p_name;
  execute format($q$
    delete from %I m
    using unnest($1) as i(id)
    left join jsonb_to_recordset($2) as x(id uuid, version bigint) on x.id = i.id
    where m.id = i.id and m.version <= coalesce(x.version, m.version)$q$, p.table_name)
  using p_stream_ids, coalesce(p_results -> 'models', '[]');
  if p_results ? 'models' then
    perform wh_write_models(p, p_results -> 'models');
  end if;
  if p_results ? 'freed' then
    perform wh_hold_models(p_name, null, null, null, p_results -> 'freed');
  end if;
  if p_results ? 'messages' then
    perform wh_send(p_results -> 'messages');
  end if;
  perform wh_notify_all();
end
$$;
