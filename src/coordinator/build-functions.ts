// The functions of sql/functions/perspectives about builds: as perspective-functions.ts.
import type { Queryable } from '../database/index.js';
import { oneRow } from './functions.js';
import type { PerspectiveState } from './perspective-functions.js';

type SwitchOutcome = 'switched' | 'behind' | 'busy' | 'blocked' | 'gone';

/** Makes a build the one that queries read, if it has caught up. */
export async function switchPerspective(db: Queryable, schema: string, name: string): Promise<SwitchOutcome> {
  const text = `select ${schema}.wh_switch_perspective($1::text) as outcome`;
  return (await oneRow<{ outcome: SwitchOutcome }>(db, text, [name])).outcome;
}

/** Begins to build the models of a perspective again. Version null: that of the live build. */
export async function rebuildPerspective(
  db: Queryable,
  schema: string,
  { name, version, switches }: { name: string; version: number | null; switches: boolean },
): Promise<{ readonly name: string; readonly is_new: boolean }> {
  const text = `select ${schema}.wh_rebuild_perspective($1::text, $2::text::int, $3::text::boolean)::text as build`;
  const values = [name, version === null ? null : String(version), String(switches)];
  const { build } = await oneRow<{ build: string }>(db, text, values);
  return JSON.parse(build) as { name: string; is_new: boolean };
}

/** Asks for another build to become live. Null: the one beside, or the one that was live before. */
export async function wantBuild(
  db: Queryable,
  schema: string,
  baseName: string,
  build: string | null,
): Promise<string> {
  const text = `select ${schema}.wh_want_build($1::text, $2::text) as name`;
  return (await oneRow<{ name: string }>(db, text, [baseName, build])).name;
}

export async function dropBuild(db: Queryable, schema: string, name: string): Promise<boolean> {
  const text = `select ${schema}.wh_drop_build($1::text) as is_dropped`;
  return (await oneRow<{ is_dropped: boolean }>(db, text, [name])).is_dropped;
}

/** How far a build is. */
export interface BuildProgress {
  readonly name: string;
  readonly code: string;
  readonly state: PerspectiveState;
  readonly switches: boolean;
  readonly kind: 'stream' | 'keyed' | 'custom';
  /** Numbers of events, of all that there are. */
  readonly done: number;
  readonly total: number;
  readonly is_caught_up: boolean;
  readonly events_per_second: number;
  /** How many streams, or models of keys, are held. */
  readonly held: number;
  /** How many instances have its code. */
  readonly instances: number;
}

/** Null: there is no such build. */
export async function buildProgress(
  db: Queryable,
  schema: string,
  name: string,
): Promise<BuildProgress | null> {
  const text = `select ${schema}.wh_build_progress($1::text)::text as progress`;
  const { progress } = await oneRow<{ progress: string | null }>(db, text, [name]);
  return progress === null ? null : (JSON.parse(progress) as BuildProgress);
}
