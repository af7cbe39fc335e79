import { type Queryable, serverErrorOf } from '../database/index.js';
import type { ReleaseFile, SqlKind } from './release.js';

/** A row of wh_migrations: what is in the database, and the newest package version that put or found it there. */
export interface LedgerRow {
  readonly name: string;
  readonly kind: SqlKind;
  readonly hash: string;
  readonly package_version: string;
}

const undefinedTable = '42P01';
const invalidSchemaName = '3F000';

/** Reads without a lock and outside a transaction: the whole cost of a start when nothing is to be done. */
export async function peekLedger(db: Queryable, schema: string): Promise<LedgerRow[]> {
  try {
    return await readLedger(db, schema);
  } catch (error) {
    const sqlState = serverErrorOf(error)?.code;
    if (sqlState === undefinedTable || sqlState === invalidSchemaName) return [];
    throw error;
  }
}

export async function readLedger(db: Queryable, schema: string): Promise<LedgerRow[]> {
  const { rows } = await db.query(
    `select name, kind, hash, package_version from ${schema}.wh_migrations order by kind, name`,
  );
  return rows as LedgerRow[];
}

export async function createLedger(db: Queryable): Promise<void> {
  await db.query(`
    create table if not exists wh_migrations (
      name            text primary key,
      kind            text not null check (kind in ('migration', 'type', 'function', 'view')),
      hash            text not null,
      package_version text not null,
      applied_at      timestamptz not null default now()
    )`);
}

export async function record(db: Queryable, files: readonly ReleaseFile[], version: string): Promise<void> {
  const rows = files.map(({ name, kind, hash }) => ({ name, kind, hash }));
  await db.query(
    `insert into wh_migrations (name, kind, hash, package_version)
     select name, kind, hash, $2
       from jsonb_to_recordset($1::text::jsonb) as file(name text, kind text, hash text)
     on conflict (name) do update
       set hash = excluded.hash,
           package_version = excluded.package_version,
           applied_at = now()`,
    [JSON.stringify(rows), version],
  );
}

/**
 * Marks unchanged types, functions and views as of this
 * version, so that an older package does not change them.
 */
export async function confirmCode(db: Queryable, version: string): Promise<void> {
  await db.query(
    `update wh_migrations
        set package_version = $1
      where kind <> 'migration'
        and package_version <> $1`,
    [version],
  );
}

export async function forget(db: Queryable, row: LedgerRow): Promise<void> {
  await db.query('delete from wh_migrations where name = $1', [row.name]);
}
