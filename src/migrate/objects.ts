import type { Queryable } from '../database/index.js';

interface Grant {
  /** A quoted role, or `public`. */
  readonly grantee: string;
  readonly privilege: string;
  readonly grantable: boolean;
}

/** A type, function or view of ours as it is in the catalogue, with its grants. */
export interface DatabaseObject {
  readonly kind: 'type' | 'function' | 'view';
  readonly name: string;
  readonly oid: string;
  /** Its name in SQL, with its argument types. */
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
      union all
     select 'type', t.typname::text, t.oid::text, t.oid::regtype::text,
            ${grantsOf(`coalesce(t.typacl, acldefault('T', t.typowner))`, 't.typowner')}
       from pg_type t join pg_class c on c.oid = t.typrelid and c.relkind = 'c'
      where t.typnamespace = (select oid from pg_namespace where nspname = $1)
        and t.typname = any ($2)
      order by 1, 2, 3`,
    [schema, names],
  );
  return rows as DatabaseObject[];
}

const words = { type: 'type', function: 'routine', view: 'view' } as const;

/** Drops objects of one kind in one statement: they may use one another. */
export async function dropAll(db: Queryable, objects: readonly DatabaseObject[]): Promise<void> {
  const [first] = objects;
  if (first === undefined) return;
  await db.query(`drop ${words[first.kind]} ${objects.map(({ identity }) => identity).join(', ')}`);
}

/** Returns those functions that have a parameter or result of one of these types, or of an array of it. */
export async function withSignatureOf(
  db: Queryable,
  functions: readonly DatabaseObject[],
  types: readonly DatabaseObject[],
): Promise<DatabaseObject[]> {
  const { rows } = await db.query(
    `select distinct d.objid::text as oid
       from pg_depend d join pg_type t on t.oid = d.refobjid
      where d.classid = 'pg_proc'::regclass
        and d.refclassid = 'pg_type'::regclass
        and (t.oid = any ($1::text::oid[]) or t.typelem = any ($1::text::oid[]))`,
    [`{${types.map((type) => type.oid).join()}}`],
  );
  const users = new Set((rows as { oid: string }[]).map((row) => row.oid));
  return functions.filter((object) => users.has(object.oid));
}

/**
 * Restores grants. `create or replace` keeps them; an object that was created anew has lost them. A new
 * function is closed to the public, and an object that replaced another gets the grants of that one.
 */
export async function restoreGrants(
  db: Queryable,
  before: readonly DatabaseObject[],
  after: readonly DatabaseObject[],
): Promise<void> {
  const kept = new Set(before.map((object) => object.oid));
  for (const made of after.filter((object) => !kept.has(object.oid))) {
    const replaced = before.filter((object) => object.kind === made.kind && object.name === made.name);
    const target = `${made.kind === 'view' ? 'table' : words[made.kind]} ${made.identity}`;
    if (made.kind === 'function' || replaced.length > 0)
      await db.query(`revoke all on ${target} from public`);
    for (const old of replaced) {
      for (const grant of old.grants) {
        const option = grant.grantable ? ' with grant option' : '';
        await db.query(`grant ${grant.privilege} on ${target} to ${grant.grantee}${option}`);
      }
    }
  }
}
