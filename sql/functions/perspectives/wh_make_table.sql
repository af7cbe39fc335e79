-- Makes the table of the models of a build, with its columns and indexes. The names and types come from a definition,
-- and are checked here again: they become part of statements. A further build of the same code gets a table like the
-- one before, with the indexes that users have added.
-- Locks: new tables only.
-- Reads by: all rows of wh_perspectives.
-- Raises: WB001, duplicate_table
-- Called by: wh_build_perspective
create or replace function wh_make_table(p wh_perspectives, p_indexes jsonb)
returns void
language plpgsql
as $$
declare
  c_types constant text[] := array['text', 'int', 'bigint', 'numeric', 'boolean', 'timestamptz', 'uuid', 'jsonb'];
  v_bad text := (select c.key from jsonb_each_text(p.columns) c where c.value <> all(c_types) limit 1);
  v_before text := (select x.table_name from wh_perspectives x where x.code = p.code and x.build < p.build order by x.build desc limit 1);
  v_index jsonb;
begin
  if v_bad is not null then
    perform wh_refuse(format('p_perspective.columns.%s', v_bad), format('is not one of %s', array_to_string(c_types, ', ')));
  end if;
  if v_before is not null then
    execute format('create table %I (like %I including all) with (fillfactor = 80)', p.table_name, v_before);
  else
    execute format('create table %I (id %s primary key, data jsonb, version bigint not null, scope jsonb, updated_at timestamptz not null%s) with (fillfactor = 80)',
      p.table_name, case p.kind when 'keyed' then 'text' else 'uuid' end,
      (select coalesce(string_agg(format(', %I %s', c.key, c.value), '' order by c.key), '') from jsonb_each_text(p.columns) c));
  end if;
  for v_index in select i from jsonb_array_elements(coalesce(p_indexes, '[]')) i loop
    execute format('create index on %I (%s)', p.table_name, (select string_agg(format('%I', n), ', ') from jsonb_array_elements_text(v_index) n));
  end loop;
  execute format('grant select on %I to %I', p.table_name, session_user);
end
$$;
