import { createHash } from 'node:crypto';
import { checkEngine, defaultSchema, type Queryable, quoteSchema } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import { applyPlan } from './apply.js';
import { compareVersions } from './compare-versions.js';
import { type GrantKind, grantTo } from './grants.js';
import { createLedger, type LedgerRow, peekLedger, readLedger } from './ledger.js';
import { changesAnything, isEmpty, type MigrationPlan, planMigration } from './plan.js';
import type { Release } from './release.js';
import { adoptSquashed, withoutSquashed } from './squashed.js';
import { declareSubscriptions } from './subscriptions.js';

/** Where the tables were when no schema was named, before there was a schema of our own. */
const formerDefaultSchema = 'public';

/** What `migrate` did. */
export interface MigrationReport {
  readonly schema: string;
  /** Migrations applied now. */
  readonly applied: readonly string[];
  /** Functions made or replaced now. */
  readonly functions: readonly string[];
  /** Views made or replaced now. */
  readonly views: readonly string[];
  /** True when nothing had to be done. */
  readonly alreadyCurrent: boolean;
  /** The newest package version that had migrated the database before; null when it was not installed. */
  readonly fromVersion: string | null;
  /** The newest package version that has migrated the database now. */
  readonly toVersion: string;
}

/** What is to be done, and how. */
interface Migration {
  readonly release: Release;
  /** Undefined: none was named. */
  readonly schema: string | undefined;
  /** Reports what is pending, and changes nothing. */
  readonly check?: boolean | undefined;
  /** The role of the service, or of who looks or acts. */
  readonly grantTo?: string | undefined;
  readonly grantAs?: GrantKind | undefined;
  readonly subscriptions?: readonly string[] | undefined;
}

/**
 * Brings one schema to a release over one session that is not inside a transaction. `end` is the last statement: a
 * rehearsal is rolled back.
 */
export async function runMigration(
  db: Queryable,
  migration: Migration,
  end: 'commit' | 'rollback' = 'commit',
): Promise<MigrationReport> {
  const { release, schema: named, check = false } = migration;
  const schema = named ?? defaultSchema;
  const quoted = quoteSchema(schema);
  const unknownEngine = await checkEngine(db);
  if (unknownEngine !== undefined)
    process.emitWarning(`The engine of this database is not known to work with whizbang: ${unknownEngine}`);
  const ledger = withoutSquashed(await peekLedger(db, quoted), release);
  if (named === undefined && ledger.length === 0) await refuseSecondInstallation(db);
  const plan = planMigration(release, ledger);
  const declares = migration.grantTo !== undefined || migration.subscriptions !== undefined;
  if (check || (isEmpty(plan) && !declares)) return reportOf(schema, release, ledger, plan);

  // READ COMMITTED, because what others did while this one waited for the lock must be seen.
  await db.query('begin isolation level read committed');
  try {
    const report = await migrateUnderLock(db, schema, quoted, migration);
    await db.query(end);
    return report;
  } catch (error) {
    await db.query('rollback').catch(() => {}); // the first error is the one to report
    throw error;
  }
}

async function migrateUnderLock(
  db: Queryable,
  schema: string,
  quoted: string,
  { release, grantTo: role, grantAs, subscriptions }: Migration,
): Promise<MigrationReport> {
  // The timeouts of a role are meant for its queries, not for waiting behind nineteen other migrators.
  await db.query('set local statement_timeout = 0; set local lock_timeout = 0');
  await db.query('set local client_min_messages = warning');
  // Ends with the transaction, so it also holds behind pgbouncer in transaction mode.
  await db.query('select pg_advisory_xact_lock($1, $2)', migrationLock(schema));
  await createSchema(db, schema, quoted);
  // Functions keep this path (`set search_path from current`); their bodies may name later files.
  await db.query(`set local search_path = ${quoted}, pg_temp`);
  await db.query('set local check_function_bodies = off');
  await createLedger(db);
  await adoptSquashed(db, schema, quoted, release);

  const ledger = await readLedger(db, quoted);
  const plan = planMigration(release, ledger);
  if (!isEmpty(plan)) await applyPlan(db, schema, release, plan, new Set(ledger.map((row) => row.name)));
  if (role !== undefined) await grantTo(db, quoted, role, grantAs);
  if (subscriptions !== undefined) await declareSubscriptions(db, quoted, subscriptions);
  return reportOf(schema, release, ledger, plan);
}

/**
 * Refuses to begin anew beside the tables of who named no schema before there was one of our own: a service that finds
 * an empty schema would leave behind, without a word, all that waits in the other.
 */
async function refuseSecondInstallation(db: Queryable): Promise<void> {
  const elsewhere = await peekLedger(db, quoteSchema(formerDefaultSchema));
  if (elsewhere.length === 0) return;
  throw new WhizbangError('SCHEMA_NOT_NAMED', {
    message:
      `No schema was named. The default, ${defaultSchema}, is empty, and ${formerDefaultSchema} has the tables ` +
      `of whizbang ${newestVersion(elsewhere)}, perhaps with messages that wait.`,
    details: { schema: defaultSchema, installedIn: formerDefaultSchema },
  });
}

/**
 * Creates the schema. `create schema if not exists` needs the
 * right to create one even when it exists, hence the check first.
 */
async function createSchema(db: Queryable, schema: string, quoted: string): Promise<void> {
  const { rows } = await db.query('select from pg_namespace where nspname = $1', [schema]);
  if (rows.length === 0) await db.query(`create schema ${quoted}`);
}

function reportOf(
  schema: string,
  release: Release,
  ledger: readonly LedgerRow[],
  plan: MigrationPlan,
): MigrationReport {
  const fromVersion = newestVersion(ledger) ?? null;
  const [applied, functions, views] = [plan.migrations, plan.functions, plan.views].map((files) =>
    files.map((file) => file.name),
  ) as [string[], string[], string[]];
  return {
    schema,
    applied,
    functions,
    views,
    alreadyCurrent: !changesAnything(plan),
    fromVersion,
    toVersion: [fromVersion ?? release.version, release.version].sort(compareVersions).at(-1) as string,
  };
}

function newestVersion(ledger: readonly LedgerRow[]): string | undefined {
  return ledger
    .map((row) => row.package_version)
    .sort(compareVersions)
    .at(-1);
}

/**
 * Returns the keys of the advisory lock. 'WBM1' is the key of our migrations;
 * the second key is the schema, so that two schemas never wait for each other.
 */
export function migrationLock(schema: string): [number, number] {
  return [0x57424d31, createHash('sha256').update(schema).digest().readInt32BE()];
}
