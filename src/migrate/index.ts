// Brings a schema of a database to what this version of the package needs.
// In: a way to reach the database and the name of a schema. Out: a report of what was done.
// Called by `whizbang migrate`, by programs at their start, and by tests; safe when many start at once.
// It never touches rows, never edits or skips a migration, and never replaces what a newer version brought.
import pg from 'pg';
import {
  type ConnectionPool,
  defaultSchema,
  fromDatabaseError,
  type Queryable,
  quoteSchema,
  refuseConnectionString,
  retrying,
  serverErrorOf,
  withPooledClient,
} from '../database/index.js';
import { WhizbangError } from '../errors.js';
import { refuseUnknownKeys } from '../options.js';
import type { GrantKind } from './grants.js';
import { Rehearsal } from './rehearsal.js';
import { currentRelease, type Release } from './release.js';
import { type MigrationReport, runMigration } from './run.js';
import { declareSubscriptions, refuseSubscriptions } from './subscriptions.js';

export { readDrift } from './drift.js';
export { type GrantKind, grantKinds, serviceFunctions } from './grants.js';
export { pendingIn } from './pending.js';
export { currentRelease } from './release.js';
export type { MigrationReport } from './run.js';

/** Options of `migrate`: the database, by one of three ways, and the schema. */
export type MigrateOptions = (
  | { readonly connectionString: string }
  | { readonly pool: ConnectionPool }
  /** One session, connected and not inside a transaction. */
  | { readonly client: Queryable }
) & {
  /** The schema, which is created when it does not exist. Default: `whizbang`. */
  readonly schema?: string | undefined;
  /** True: nothing is changed, and the report says what is pending. `alreadyCurrent`: nothing is. */
  readonly check?: boolean | undefined;
  /** A role, which gets the rights that it needs, and no other: docs/operate/least-privilege.md. */
  readonly grantTo?: string | undefined;
  /** What that role is for: to run the service, to look at it, or to look and act on it. Default: `service`. */
  readonly grantAs?: GrantKind | undefined;
  /**
   * Events that the service of this schema will receive, by their types, or their topics where these differ. What is
   * published from now on waits for the service, also before its first start.
   */
  readonly subscriptions?: readonly string[] | undefined;
};

const optionNames = [
  'connectionString',
  'pool',
  'client',
  'schema',
  'check',
  'grantTo',
  'grantAs',
  'subscriptions',
];

/**
 * Brings a schema to what this version needs. Safe when many call
 * it at once. When there is nothing to do it makes two small queries.
 */
export async function migrate(options: MigrateOptions): Promise<MigrationReport> {
  return migrateTo(currentRelease(), options);
}

/** Brings a schema to any release, for tests: `migrate` knows only the one in this package. */
export async function migrateTo(release: Release, options: MigrateOptions): Promise<MigrationReport> {
  return inDatabase(options, (db) => runMigration(db, { ...options, schema: options.schema, release }));
}

/**
 * Returns what a migration would run, as one transaction in SQL, or undefined when nothing is to be done. It is found
 * out by a migration that is rolled back, which takes the same locks for as long.
 */
export async function migrationSql(options: MigrateOptions): Promise<string | undefined> {
  return inDatabase(options, async (db) => {
    const rehearsal = new Rehearsal(db);
    const migration = { ...options, schema: options.schema, release: currentRelease() };
    await runMigration(rehearsal, migration, 'rollback');
    return rehearsal.script();
  });
}

/** Declares what the service of a schema will receive, in a schema that was migrated. */
export async function subscribe(
  options: MigrateOptions & { readonly subscriptions: readonly string[] },
): Promise<void> {
  const schema = quoteSchema(options.schema ?? defaultSchema);
  await inDatabase(options, (db) => declareSubscriptions(db, schema, options.subscriptions));
}

async function inDatabase<T>(options: MigrateOptions, work: (db: Queryable) => Promise<T>): Promise<T> {
  refuseUnknownKeys('migrate', { ...options }, optionNames);
  refuseNoDatabase(options);
  if (options.subscriptions !== undefined) refuseSubscriptions(options.subscriptions);
  const attempt = async () => {
    try {
      if ('client' in options && options.client !== undefined) return await work(options.client);
      if ('pool' in options && options.pool !== undefined) return await withPooledClient(options.pool, work);
      return await overOwnConnection((options as { connectionString: string }).connectionString, work);
    } catch (error) {
      throw withAdvice(fromDatabaseError(error));
    }
  };
  // A transaction that sends, then reports, may collide with an upgrade: one of the two is rolled back.
  return retrying(attempt, { maxRetries: 5, retryDelayMs: 100 });
}

function refuseNoDatabase(options: unknown): void {
  const { connectionString, pool, client } = (options ?? {}) as Readonly<Record<string, unknown>>;
  if (connectionString || pool || client) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: 'migrate was given no connectionString, pool or client.',
    hint: 'Give one of them. If it is given but undefined, check that its environment variable is set.',
    details: { option: 'connectionString' },
  });
}

async function overOwnConnection<T>(
  connectionString: string,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  refuseConnectionString('migrate', 'connectionString', connectionString);
  const pool = new pg.Pool({ connectionString, max: 1, application_name: 'whizbang migrate' });
  pool.on('error', () => {}); // a connection that breaks while idle needs no report
  try {
    return await withPooledClient(pool, work);
  } catch (error) {
    throw isInvalidUrl(error) ? invalidUrl() : error;
  } finally {
    await pool.end();
  }
}

function isInvalidUrl(error: unknown): boolean {
  const cause = error instanceof WhizbangError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_INVALID_URL';
}

/** The refusal of a URL, without its cause, which holds the whole URL and with it the password. */
function invalidUrl(): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: 'The connectionString is not a valid URL.',
    hint: 'Write postgres://user@host:5432/database, with special characters of the password percent-encoded.',
    details: { option: 'connectionString' },
  });
}

/** Converts the codes of calls into those of a migration. */
function withAdvice(error: WhizbangError): WhizbangError {
  const { message, details, cause } = error;
  switch (error.code) {
    case 'CONNECTION_LOST':
      return new WhizbangError('CONNECTION_LOST', {
        message,
        hint: 'Migrate again: it is one transaction, so either all of it was committed or nothing.',
        details,
        cause,
      });
    case 'DATABASE_ERROR':
    case 'INVALID_REQUEST':
      return new WhizbangError('MIGRATION_FAILED', { message, details, cause });
    case 'NOT_MIGRATED': // the advice to migrate does not help a migration
      return new WhizbangError('MIGRATION_FAILED', {
        message: serverErrorOf(cause)?.message ?? message,
        details,
        cause,
      });
    default:
      return error;
  }
}
