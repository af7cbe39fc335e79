import { makeRelease, type Release } from '../../../src/migrate/release.js';
import type { SqlFile } from '../../../src/migrate/sql.generated.js';

export const tableT: SqlFile = { name: '0001_t', text: 'create table t (a int);' };
export const functionF: SqlFile = {
  name: 'f',
  text: `create or replace function f(p_a int default 1) returns int language sql as $$ select p_a $$;`,
};
export const viewV: SqlFile = { name: 'v', text: 'create or replace view v as select a from t;' };

/** A release small enough to see what the migrator does with it. */
export function smallRelease(
  version: string,
  {
    migrations = [tableT],
    types = [],
    functions = [functionF],
    views = [viewV],
  }: Partial<Record<string, SqlFile[]>> = {},
): Release {
  return makeRelease(version, { migrations, types, functions, views });
}
