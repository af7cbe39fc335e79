-- Makes the line of a shell that does something to this schema, for remedies. The words are quoted where a shell
-- needs it.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_explain_absent, wh_explain_stream, wh_reason_of_holder, wh_reason_of_pause, wh_reason_of_{lane}
create or replace function wh_command(variadic p_words text[])
returns text
language sql stable
as $$
  select string_agg(case when w.word ~ '^[A-Za-z0-9_.:@/-]+$' then w.word else '''' || replace(w.word, '''', '''\''''') || '''' end, ' ' order by w.place)
  from unnest(array['whizbang'] || p_words || case when current_schema() = 'whizbang' then '{}' else array['--schema', current_schema()::text] end)
    with ordinality as w(word, place)
  where w.word <> ''
$$;
