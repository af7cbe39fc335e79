import { WhizbangError } from '../errors.js';
import { compareVersions } from './compare-versions.js';
import type { LedgerRow } from './ledger.js';
import type { Release, ReleaseFile } from './release.js';

export interface MigrationPlan {
  readonly migrations: readonly ReleaseFile[];
  /** All types, or none: they use one another, and everything uses them. */
  readonly types: readonly ReleaseFile[];
  readonly functions: readonly ReleaseFile[];
  readonly views: readonly ReleaseFile[];
  /** Types, functions and views that this version no longer has. */
  readonly obsolete: readonly LedgerRow[];
  /**
   * True when types, functions and views are as they should be, but are still noted under an older version.
   */
  readonly confirms: boolean;
}

/**
 * Returns what has to be done to bring the database to the release.
 * Refuses a database that this package does not understand.
 */
export function planMigration(release: Release, ledger: readonly LedgerRow[]): MigrationPlan {
  const known = new Map(release.files.map((file) => [file.name, file]));
  const present = new Map(ledger.map((row) => [row.name, row]));
  refuseNewer(release, ledger, known);
  refuseEdited(ledger, known);

  const migrations = release.files.filter((file) => file.kind === 'migration' && !present.has(file.name));
  const code = ledger.filter((row) => row.kind !== 'migration');
  // In a rolling deploy an old copy may start after a new one has brought its types and functions: they stay.
  const codeIsNewer = code.some((row) => compareVersions(row.package_version, release.version) > 0);
  if (codeIsNewer) return { migrations, types: [], functions: [], views: [], obsolete: [], confirms: false };

  const isNew = (file: ReleaseFile) => present.get(file.name)?.hash !== file.hash;
  const obsolete = code.filter((row) => !known.has(row.name));
  const types = release.files.filter((file) => file.kind === 'type');
  const typesChange = types.some(isNew) || obsolete.some((row) => row.kind === 'type');
  // A migration may drop a function or view that blocks it, and what
  // uses a type is dropped with it. All are applied after these.
  const changed = release.files.filter((file) => migrations.length > 0 || typesChange || isNew(file));
  return {
    migrations,
    types: typesChange ? types : [],
    functions: changed.filter((file) => file.kind === 'function'),
    views: changed.filter((file) => file.kind === 'view'),
    obsolete,
    confirms: code.some((row) => row.package_version !== release.version),
  };
}

export function isEmpty(plan: MigrationPlan): boolean {
  return !changesAnything(plan) && !plan.confirms;
}

export function replacesTypes({ types, obsolete }: MigrationPlan): boolean {
  return types.length > 0 || obsolete.some((row) => row.kind === 'type');
}

export function changesAnything({ migrations, types, functions, views, obsolete }: MigrationPlan): boolean {
  return [migrations, types, functions, views, obsolete].some((step) => step.length > 0);
}

function refuseNewer(release: Release, ledger: readonly LedgerRow[], known: Map<string, ReleaseFile>): void {
  const unknown = ledger.filter((row) => row.kind === 'migration' && !known.has(row.name));
  const newest = unknown
    .map((row) => row.package_version)
    .sort(compareVersions)
    .at(-1);
  if (newest === undefined) return;
  throw new WhizbangError('DATABASE_NEWER', {
    message:
      `The database was migrated by whizbang ${newest} and has ${unknown.map((row) => row.name).join(', ')}, ` +
      `which whizbang ${release.version} does not know.`,
    hint: `Deploy whizbang ${newest} or later. Nothing was changed.`,
    details: {
      packageVersion: release.version,
      databaseVersion: newest,
      unknown: unknown.map((row) => row.name),
    },
  });
}

function refuseEdited(ledger: readonly LedgerRow[], known: Map<string, ReleaseFile>): void {
  for (const row of ledger) {
    const file = known.get(row.name);
    if (row.kind !== 'migration' || file === undefined || file.hash === row.hash) continue;
    throw new WhizbangError('MIGRATION_CHANGED', {
      message: `Migration ${row.name} was applied by whizbang ${row.package_version} with a text that differs from the one in this package.`,
      details: { migration: row.name, appliedHash: row.hash, packageHash: file.hash },
    });
  }
}
