import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type pg from 'pg';
import { migrateTo } from '../../../src/migrate/index.js';
import { makeRelease } from '../../../src/migrate/release.js';
import type { SqlFile } from '../../../src/migrate/sql.generated.js';

/** The SQL of commit 95edd77, from before the migrations were squashed and the types had files. */
export const versionBefore = JSON.parse(
  gunzipSync(readFileSync(new URL('version-before.json.gz', import.meta.url))).toString(),
) as Record<'migrations' | 'functions' | 'views', SqlFile[]>;

/** Installs it, or what it was before its last migrations, with the ledger of that time. */
export async function installVersionBefore(
  pool: pg.Pool,
  sql: Partial<typeof versionBefore> = {},
): Promise<void> {
  await migrateTo(makeRelease('0.0.1', { ...versionBefore, types: [], ...sql }), { pool });
  await pool.query(
    `alter table wh_migrations drop constraint wh_migrations_kind_check;
     alter table wh_migrations add check (kind in ('migration', 'function', 'view'))`,
  );
}
