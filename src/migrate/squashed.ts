// Before 0.1.0, the first release, the migrations 0001 to 0008 were rewritten as one,
// and the types became files of their own. This brings a database of that time to the
// new names, with all its rows. It can be deleted after 0.1.0, with its calls in run.ts.
import type { Queryable } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import { stopCalls } from './apply.js';
import { type LedgerRow, readLedger, record } from './ledger.js';
import { readObjects } from './objects.js';
import type { Release, ReleaseFile } from './release.js';

const needed = [
  '0001_core_tables',
  '0002_call_types',
  '0003_runtime',
  '0004_waking',
  '0005_outage_and_silence',
];
const squashed = [
  ...needed,
  '0006_floors_pass_what_waits', // added wh_lanes.committed_below
  '0007_straight_to_the_inbox', // only types, as the next
  '0008_continuing',
];
const typesOfThatTime = (
  'wh_arrival wh_arrived wh_call wh_claimed wh_completion wh_due wh_failure wh_kept wh_leased wh_locked wh_new_message ' +
  'wh_open_stream wh_opened wh_parsed wh_reported wh_request wh_routed wh_seen wh_stored wh_stream_version wh_work_item'
).split(' ');

/**
 * Returns a ledger of that time as it will be, so that a
 * plan can be made of it. Any other is returned as it is.
 */
export function withoutSquashed(ledger: readonly LedgerRow[], release: Release): readonly LedgerRow[] {
  const old = ledger.filter((row) => squashed.includes(row.name));
  const tables = tablesOf(release);
  if (old.length === 0 || tables === undefined) return ledger;
  const missing = needed.filter((name) => !old.some((row) => row.name === name));
  if (missing.length > 0) {
    throw new WhizbangError('MIGRATION_FAILED', {
      message: `The database was made before whizbang 0.1.0 and lacks ${missing.join(', ')}.`,
      hint:
        'Migrate it first with the last state of the repository that has sql/migrations/0008_continuing.sql, ' +
        'then with this one. Nothing was changed.',
      details: { missing },
    });
  }
  const { name, kind, hash } = tables;
  return [
    ...ledger.filter((row) => !old.includes(row)),
    { name, kind, hash, package_version: release.version },
  ];
}

/**
 * Assigns what the squashed migrations made to the files that it is in now. Called under the migrator's lock.
 */
export async function adoptSquashed(
  db: Queryable,
  schema: string,
  quoted: string,
  release: Release,
): Promise<void> {
  const ledger = await readLedger(db, quoted);
  const tables = tablesOf(release);
  if (tables === undefined || withoutSquashed(ledger, release) === ledger) return;
  await stopCalls(db);
  await db.query(`
    alter table wh_lanes add column if not exists committed_below bigint not null default 0;
    alter table wh_migrations drop constraint if exists wh_migrations_kind_check;
    alter table wh_migrations add check (kind in ('migration', 'type', 'function', 'view'));`);
  await db.query('delete from wh_migrations where name = any ($1)', [squashed]);
  // Without a hash, so that they count as changed and are made anew.
  const types = (await readObjects(db, schema, typesOfThatTime)).map(
    ({ name }): ReleaseFile => ({ name, kind: 'type', text: '', hash: '' }),
  );
  await record(db, [tables, ...types], release.version);
}

const tablesOf = (release: Release) => release.files.find((file) => file.name === '0001_tables');
