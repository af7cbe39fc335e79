-- What keeps the server from clearing dead rows away, oldest first: open transactions, prepared ones, replication slots. Sessions of
-- other roles are shown whole only to members of pg_read_all_stats.
create or replace view wh_old_transactions as
select 'transaction' as kind, a.pid::text as name, a.usename::text as role, a.application_name, a.client_addr::text as client, a.state,
       a.xact_start as since, a.state_change, age(a.backend_xmin) as rows_age
from pg_stat_activity a
where a.datname = current_database() and a.backend_xmin is not null and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
union all
select 'prepared', p.gid, p.owner::text, null, null, 'prepared', p.prepared, p.prepared, age(p.transaction)
from pg_prepared_xacts p where p.database = current_database()
union all
select 'slot', r.slot_name::text, null, r.plugin::text, null, case when r.active then 'active' else 'inactive' end, null, null,
       greatest(age(r.xmin), age(r.catalog_xmin))
from pg_replication_slots r where r.xmin is not null or r.catalog_xmin is not null;
