import { createHash } from 'node:crypto';
import { type Queryable, quoteSchema } from '../database/index.js';
import { applyPlan } from './apply.js';
import { compareVersions } from './compare-versions.js';
import { createLedger, type LedgerRow, peekLedger, readLedger } from './ledger.js';
import { changesAnything, isEmpty, type MigrationPlan, planMigration } from './plan.js';
import type { Release } from './release.js';
import { adoptSquashed, withoutSquashed } from './squashed.js';

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

/** Brings one schema to a release over one session that is not inside a transaction. */
export async function runMigration(
  db: Queryable,
  schema: string,
  release: Release,
): Promise<MigrationReport> {
  const quoted = quoteSchema(schema);
  const ledger = withoutSquashed(await peekLedger(db, quoted), release);
  const plan = planMigration(release, ledger);
  if (isEmpty(plan)) return reportOf(schema, release, ledger, plan);

  // READ COMMITTED, because what others did while this one waited for the lock must be seen.
  await db.query('begin isolation level read committed');
  try {
    const report = await migrateUnderLock(db, schema, quoted, release);
    await db.query('commit');
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
  release: Release,
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
  await applyPlan(db, schema, release, plan, new Set(ledger.map((row) => row.name)));
  return reportOf(schema, release, ledger, plan);
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
  const versions = ledger.map((row) => row.package_version).sort(compareVersions);
  const fromVersion = versions.at(-1) ?? null;
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
    toVersion: [...versions, release.version].sort(compareVersions).at(-1) as string,
  };
}

/**
 * Returns the keys of the advisory lock. 'WBM1' is the key of our migrations;
 * the second key is the schema, so that two schemas never wait for each other.
 */
export function migrationLock(schema: string): [number, number] {
  return [0x57424d31, createHash('sha256').update(schema).digest().readInt32BE()];
}
