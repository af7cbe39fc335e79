-- The tables of this schema: sizes, rows, dead rows and when they were last vacuumed. Rows are the server's estimates; null before
-- the first analyze.
create or replace view wh_table_health as
select c.relname::text as table_name, pg_table_size(c.oid) as table_bytes, pg_indexes_size(c.oid) as index_bytes,
       case when c.reltuples >= 0 then c.reltuples::bigint end as estimated_rows, s.n_live_tup as live_rows, s.n_dead_tup as dead_rows,
       greatest(s.last_vacuum, s.last_autovacuum) as last_vacuum_at, greatest(s.last_analyze, s.last_autoanalyze) as last_analyze_at
from pg_class c
join pg_stat_all_tables s on s.relid = c.oid
where c.relnamespace = (select o.relnamespace from pg_class o where o.oid = 'wh_outbox'::regclass)
  and c.relkind = 'r' and c.relname like 'wh\_%';
