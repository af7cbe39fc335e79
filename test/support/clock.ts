// A clock that goes back, as the database sees it: every stored time lies ahead of it by as much.
import type { TestDatabase } from './database.js';

/** As if the clock of the database had gone back by so many seconds. Less than zero: it has gone forward. */
export async function setClockBack(db: TestDatabase, seconds: number): Promise<void> {
  await db.pool.query(
    `do $$
     declare
       t record;
     begin
       for t in
         select c.table_name, string_agg(format('%1$I = %1$I + interval ''${seconds} seconds''', c.column_name), ', ') as changes
         from information_schema.columns c
         join information_schema.tables b using (table_schema, table_name)
         where c.table_schema = 'whizbang' and b.table_type = 'BASE TABLE' and c.table_name like 'wh\\_%' and c.data_type = 'timestamp with time zone'
         group by c.table_name
       loop
         execute format('update %I set %s', t.table_name, t.changes);
       end loop;
     end $$`,
  );
}
