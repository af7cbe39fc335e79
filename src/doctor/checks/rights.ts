// The rights of the roles that run services, which are seldom the role of whoever asks; and the history, which stops being kept for
// want of one.
import type { Queryable } from '../../database/index.js';
import { serviceFunctions } from '../../migrate/index.js';
import { type Finding, warning } from '../finding.js';

interface Lack {
  readonly role: string;
  readonly functions: readonly string[];
}

/** A role that may call process_work_batch runs a service: it needs the other functions of a service too. */
export async function checkRights(db: Queryable, schema: string): Promise<Finding[]> {
  const lacks = await lacking(db, schema, serviceFunctions);
  return lacks.map(({ role, functions }) => {
    const shown = functions.slice(0, 5).join(', ');
    const more = functions.length > 5 ? ` and ${functions.length - 5} more` : '';
    return warning(
      'missing-rights',
      `The role ${role} may call process_work_batch, and may not execute ${shown}${more}.`,
      `grant execute on function ${functions.map((name) => `${schema}.${name}`).join(', ')} to ${quoted(role)};`,
      { role, functions },
    );
  });
}

/** Rows of the history that nobody deletes: whoever keeps it makes the days ahead. */
export async function checkHistory(db: Queryable, schema: string): Promise<Finding[]> {
  const { rows } = await db.query(
    `select d.days, to_char((clock_timestamp() at time zone 'utc')::date + 1, '"wh_history_"YYYYMMDD') <> all(d.days) as is_left,
       pg_relation_size($1 || '.wh_history_rest') > 0 as has_rest
     from (
       select coalesce(array_agg(c.relname::text), '{}') as days
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = ($1 || '.wh_history')::regclass and c.relname ~ '^wh_history_[0-9]{8}$'
     ) d`,
    [schema],
  );
  const { days, is_left, has_rest } = rows[0] as {
    days: readonly string[];
    is_left: boolean;
    has_rest: boolean;
  };
  if (!is_left || (days.length === 0 && !has_rest)) return [];
  const roles = (await lacking(db, schema, ['wh_keep_history'])).map(({ role }) => role);
  const isDenied = roles.length > 0;
  return [
    warning(
      'history-not-kept',
      `The history has rows, and the table for tomorrow is not made: nobody deletes what is old${isDenied ? `. The role ${roles.join(', ')} may not execute wh_keep_history` : ''}.`,
      isDenied
        ? `grant execute on function ${schema}.wh_keep_history to ${roles.map(quoted).join(', ')};`
        : `Start an instance with the option history. If it is off for good: truncate ${schema}.wh_history;`,
      { roles },
    ),
  ];
}

const quoted = (role: string) => `"${role.replaceAll('"', '""')}"`;

/** The roles that run services and may not execute some of these functions. Whoever owns them, or is a superuser, may. */
async function lacking(db: Queryable, schema: string, functions: readonly string[]): Promise<Lack[]> {
  const { rows } = await db.query(
    `with roles as (
       select distinct r.oid, r.rolname::text as role
       from pg_proc p
       cross join lateral aclexplode(p.proacl) a
       join pg_roles r on r.oid = a.grantee
       where p.pronamespace = $1::regnamespace and p.proname = 'process_work_batch' and a.privilege_type = 'EXECUTE'
     )
     select r.role, to_json(array_agg(distinct p.proname::text order by p.proname::text))::text as functions
     from roles r
     join pg_proc p on p.pronamespace = $1::regnamespace
       and p.proname = any(array(select jsonb_array_elements_text($2::text::jsonb)))
     where not has_function_privilege(r.oid, p.oid, 'execute')
     group by r.role
     order by r.role`,
    [schema, JSON.stringify(functions)],
  );
  return (rows as { role: string; functions: string }[]).map(({ role, functions: names }) => ({
    role,
    functions: JSON.parse(names) as string[],
  }));
}
