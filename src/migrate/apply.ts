import type { Queryable } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import { confirmCode, forget, record } from './ledger.js';
import { dropAll, readObjects, restoreGrants } from './objects.js';
import { type MigrationPlan, replacesTypes } from './plan.js';
import type { Release, ReleaseFile } from './release.js';
import { attempt, run } from './run-file.js';
import { changeTypes } from './types.js';

/** Carries out a plan inside the caller's transaction. */
export async function applyPlan(
  db: Queryable,
  schema: string,
  release: Release,
  plan: MigrationPlan,
  installed: ReadonlySet<string>,
): Promise<void> {
  const names = [...release.files.filter(isCode), ...plan.obsolete].map((file) => file.name);
  const before = await readObjects(db, schema, names);
  const foreign = before.find((object) => !installed.has(object.name));
  if (foreign !== undefined) {
    throw new WhizbangError('MIGRATION_FAILED', {
      message: `Schema ${schema} already has a ${foreign.kind} ${foreign.identity} that whizbang did not make.`,
      hint: 'Rename it, or give whizbang a schema of its own (--schema). If wh_migrations was emptied, drop the schema and migrate again. Nothing was changed.',
      details: { schema, object: foreign.identity },
    });
  }
  if ((plan.migrations.length > 0 || replacesTypes(plan)) && installed.size > 0) await stopCalls(db);
  for (const file of plan.migrations) await run(db, file);
  if (replacesTypes(plan)) await changeTypes(db, plan.types, await readObjects(db, schema, names));
  await applyFunctions(db, schema, plan.functions);
  await applyViews(db, release, plan);
  await dropObsolete(db, schema, plan);
  await restoreGrants(db, before, await readObjects(db, schema, names));

  await record(db, [...plan.migrations, ...plan.types, ...plan.functions, ...plan.views], release.version);
  if (plan.confirms) await confirmCode(db, release.version);
}

/**
 * Stops calls: every call of process_work_batch reads this table first. While
 * it is locked, calls wait there and hold no lock on another table, so the migrations'
 * own locks cannot deadlock with them, in whatever order they come.
 */
export async function stopCalls(db: Queryable): Promise<void> {
  const { rows } = await db.query(`select to_regclass('wh_service_instances') is not null as present`);
  if ((rows[0] as { present: boolean }).present) await db.query('lock table wh_service_instances');
}

/**
 * Applies functions. Two functions of one name would make calls
 * by parameter name ambiguous: only that of the file stays.
 */
async function applyFunctions(db: Queryable, schema: string, files: readonly ReleaseFile[]): Promise<void> {
  const names = files.map((file) => file.name);
  const old = await readObjects(db, schema, names);
  for (const file of files) {
    const replaces = old.filter((object) => object.name === file.name);
    if (replaces.length > 0 && (await attempt(db, () => run(db, file)))) continue;
    for (const { identity } of replaces) await db.query(`drop routine ${identity}`);
    await run(db, file);
  }
  const oldOids = new Set(old.map((object) => object.oid));
  const now = await readObjects(db, schema, names);
  const remade = new Set(now.filter((object) => !oldOids.has(object.oid)).map((object) => object.name));
  for (const stale of now.filter((object) => oldOids.has(object.oid) && remade.has(object.name))) {
    await db.query(`drop routine ${stale.identity}`);
  }
}

/**
 * Applies views. When one cannot be replaced in place, all are
 * dropped and created again, since they may read one another.
 */
async function applyViews(db: Queryable, release: Release, plan: MigrationPlan): Promise<void> {
  const replaced = await attempt(db, async () => {
    for (const file of plan.views) await run(db, file);
  });
  if (replaced) return;
  const all = release.files.filter((file) => file.kind === 'view');
  await db.query(`drop view if exists ${all.map((file) => `"${file.name}"`).join(', ')}`);
  for (const file of all) await run(db, file);
}

async function dropObsolete(db: Queryable, schema: string, plan: MigrationPlan): Promise<void> {
  const objects = await readObjects(
    db,
    schema,
    plan.obsolete.map((row) => row.name),
  );
  for (const kind of ['view', 'function', 'type'] as const) {
    await dropAll(
      db,
      objects.filter((object) => object.kind === kind),
    );
  }
  for (const row of plan.obsolete) await forget(db, row);
}

const isCode = (file: ReleaseFile) => file.kind !== 'migration';
