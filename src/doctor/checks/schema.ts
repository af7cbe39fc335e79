// The schema: whether it is there, current, as it was made, and whether this role may use it.
import { type Queryable, quoteSchema } from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { currentRelease, pendingIn, readDrift } from '../../migrate/index.js';
import { type Finding, fault, warning } from '../finding.js';

/** `isInstalled` is false when nothing else can be asked. */
export async function checkSchema(
  db: Queryable,
  schema: string,
): Promise<{ readonly findings: Finding[]; readonly isInstalled: boolean }> {
  const migrate = `whizbang migrate --schema ${schema}`;
  const { rows } = await db.query(
    `select has_schema_privilege(n.oid, 'usage') as may_use, 
       exists (select from pg_class c where c.relnamespace = n.oid and c.relname = 'wh_migrations') as is_installed,
       has_database_privilege(current_database(), 'create') as may_create, current_user as role
     from pg_namespace n where n.nspname = $1`,
    [schema],
  );
  const found = rows[0] as
    | { may_use: boolean; is_installed: boolean; may_create: boolean; role: string }
    | undefined;
  const quoted = quoteSchema(schema);
  if (found !== undefined && !found.may_use) {
    const grant = `grant usage on schema ${quoted} to ${quoteSchema(found.role)};`;
    return {
      findings: [fault('privileges', `The role ${found.role} may not use the schema ${schema}.`, grant)],
      isInstalled: false,
    };
  }
  if (!found?.is_installed)
    return {
      findings: [fault('not-migrated', `There is no whizbang in the schema ${schema}.`, migrate)],
      isInstalled: false,
    };
  const { rows: rights } = await db.query(
    `select has_table_privilege($1 || '.wh_migrations', 'select') as may_read,
       has_table_privilege($1 || '.wh_lane_status', 'select') as may_look`,
    [quoted],
  );
  const { may_read, may_look } = rights[0] as { may_read: boolean; may_look: boolean };
  if (!may_look)
    return {
      findings: [
        fault(
          'privileges',
          `The role ${found.role} may not read the views of the schema ${schema}.`,
          'Grant it what whizbang_reader has in docs/operate/least-privilege, or connect as the owner.',
        ),
      ],
      isInstalled: false,
    };
  if (!may_read)
    return {
      findings: [
        warning(
          'unchecked',
          `The role ${found.role} may not read wh_migrations, so the schema was not compared with this version.`,
          'Run the doctor as the owner of the schema.',
        ),
      ],
      isInstalled: true,
    };
  return {
    findings: [...(await pending(db, schema, migrate)), ...(await drift(db, schema, found.may_create))],
    isInstalled: true,
  };
}

async function pending(db: Queryable, schema: string, migrate: string): Promise<Finding[]> {
  try {
    const names = await pendingIn(db, schema);
    if (names.length === 0) return [];
    const shown =
      names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
    return [
      fault('pending', `The schema is older than this package: ${shown}.`, migrate, { pending: names }),
    ];
  } catch (error) {
    if (!(error instanceof WhizbangError)) throw error;
    return [fault('pending', error.message, error.hint)];
  }
}

async function drift(db: Queryable, schema: string, mayCreate: boolean): Promise<Finding[]> {
  if (!mayCreate)
    return [
      warning(
        'unchecked',
        'This role may not create a schema, so functions, indexes and columns were not compared with this version.',
        'Run the doctor as a role that may create schemas in this database. It changes nothing.',
      ),
    ];
  const differences = await readDrift(db, schema, currentRelease());
  return differences.map(({ kind, name, difference, remedy }) =>
    fault('drift', `The ${kind} ${name} is ${difference}.`, remedy, { kind, name, difference }),
  );
}
