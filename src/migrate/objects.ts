import type { Queryable } from '../database/index.js';

interface Grant {
  /** A quoted role, or `public`. */
  readonly grantee: string;
  readonly privilege: string;
  readonly grantable: boolean;
}

/** A function or view of ours as it stands in the catalogue, with what others may do with it. */
interface DatabaseObject {
  readonly kind: 'function' | 'view';
  readonly name: string;
  readonly oid: string;
  /** As SQL names it, with its argument types. */
  readonly identity: string;
  readonly grants: readonly Grant[];
}

const grantsOf = (acl: string, owner: string) => `
  coalesce(
    (select jsonb_agg(jsonb_build_object(
        'grantee', case when a.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end,
        'privilege', a.privilege_type,
        'grantable', a.is_grantable))
       from aclexplode(${acl}) a
      where a.grantee <> ${owner}),
    '[]')`;

export async function readObjects(
  db: Queryable,
  schema: string,
  names: readonly string[],
): Promise<DatabaseObject[]> {
  const { rows } = await db.query(
    `select 'function' as kind, p.proname::text as name, p.oid::text, p.oid::regprocedure::text as identity,
            ${grantsOf(`coalesce(p.proacl, acldefault('f', p.proowner))`, 'p.proowner')} as grants
       from pg_proc p
      where p.pronamespace = (select oid from pg_namespace where nspname = $1)
        and p.proname = any ($2)
      union all
     select 'view', c.relname::text, c.oid::text, c.oid::regclass::text,
            ${grantsOf('c.relacl', 'c.relowner')}
       from pg_class c
      where c.relnamespace = (select oid from pg_namespace where nspname = $1)
        and c.relkind = 'v'
        and c.relname = any ($2)
      order by 1, 2, 3`,
    [schema, names],
  );
  return rows as DatabaseObject[];
}

/**
 * `create or replace` keeps grants; what was made anew has lost them. A new function is closed to the
 * public, and whatever replaced an object gets the grants that the object had.
 */
export async function restoreGrants(
  db: Queryable,
  before: readonly DatabaseObject[],
  after: readonly DatabaseObject[],
): Promise<void> {
  const kept = new Set(before.map((object) => object.oid));
  for (const made of after.filter((object) => !kept.has(object.oid))) {
    const target = made.kind === 'function' ? `routine ${made.identity}` : made.identity;
    if (made.kind === 'function') await db.query(`revoke all on ${target} from public`);
    for (const old of before.filter((object) => object.kind === made.kind && object.name === made.name)) {
      for (const grant of old.grants) {
        const option = grant.grantable ? ' with grant option' : '';
        await db.query(`grant ${grant.privilege} on ${target} to ${grant.grantee}${option}`);
      }
    }
  }
}
