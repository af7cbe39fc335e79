// The functions of sql/functions/perspectives that ask for models, and those for people who operate perspectives.
// For each there is one small function here, named after it.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
// They never borrow a connection, wait with a limit or retry.
import type { Queryable } from '../database/index.js';
import type { EventRow, StreamVersion } from '../fold/index.js';
import type { StreamId } from '../message.js';
import { oneRow } from './functions.js';
import type { PerspectiveState } from './perspective-functions.js';

/** Asks a function that answers with JSON. */
async function answerOf<T>(db: Queryable, call: string, values: unknown[]): Promise<T> {
  const { answer } = await oneRow<{ answer: string | null }>(db, `select ${call}::text as answer`, values);
  return JSON.parse(answer ?? 'null') as T;
}

/** A list as PostgreSQL reads an array: cheaper than a query over JSON, where each read counts. */
const arrayText = (list: readonly string[]) =>
  `{${list.map((each) => `"${each.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;

interface ModelQuestion {
  /** Name and version: `orders@2`. */
  readonly code: string;
  readonly id: string;
  /** The types of the events that its models follow from. Undefined: no events are read. */
  readonly types: readonly string[] | undefined;
  /** Whether the events that are not in the model are read, also if the model may be queried. */
  readonly withEvents: boolean;
  readonly limit: number;
}

export interface LoadedModel {
  /** Null: the perspective is not registered. */
  readonly state: PerspectiveState | null;
  readonly model: unknown;
  /** Up to which version of the stream the model has its events. */
  readonly version: number;
  /** The next three are there when events were read. */
  readonly stream_version?: number;
  readonly skipped?: readonly number[];
  readonly events?: readonly EventRow[];
}

/** Reads a model, and what its stream has above it. */
export function loadModel(
  db: Queryable,
  schema: string,
  { code, id, types, withEvents, limit }: ModelQuestion,
): Promise<LoadedModel> {
  const call = `
    ${schema}.wh_load_model($1::text, $2::text, $3::text::text[], $4::text::boolean, $5::text::int)`;
  const values = [code, id, types === undefined ? null : arrayText(types)];
  return answerOf(db, call, [...values, String(withEvents), String(limit)]);
}

export interface FoundRow {
  readonly id: string;
  readonly model: unknown;
  readonly version: number;
  readonly values: readonly (string | null)[];
}

/** Finds models by their columns. `query` is JSON: see wh_find_models. */
export function findModels(
  db: Queryable,
  schema: string,
  code: string,
  query: string,
): Promise<{ readonly state: PerspectiveState | null; readonly models: readonly FoundRow[] }> {
  return answerOf(db, `${schema}.wh_find_models($1::text, $2::text::jsonb)`, [code, query]);
}

/** What holds a model. */
export interface HoldRow {
  readonly stream_id: StreamId;
  readonly key: string | null;
  readonly version: number;
  readonly event: string;
  readonly error: string;
}

export interface EventProgress {
  readonly state: PerspectiveState | null;
  readonly is_stored: boolean;
  readonly is_applied: boolean;
  readonly held?: HoldRow | null;
}

/** Whether a perspective has applied an event. `keys` are those of the models that it concerns. */
export function eventProgress(
  db: Queryable,
  schema: string,
  code: string,
  { streamId, version }: StreamVersion,
  keys: readonly string[] | undefined,
): Promise<EventProgress> {
  const call = `
    ${schema}.wh_event_progress($1::text, $2::uuid, $3::text::bigint,
      case when $4::text is not null then array(select jsonb_array_elements_text($4::text::jsonb)) end)`;
  return answerOf(db, call, [
    code,
    streamId,
    String(version),
    keys === undefined ? null : JSON.stringify(keys),
  ]);
}

export interface StatusRow {
  readonly name: string;
  readonly version: number;
  readonly build: number;
  readonly state: PerspectiveState;
  readonly is_paused: boolean;
  readonly lag_events: number;
  readonly lag_seconds: number | null;
  readonly rate: number;
  readonly seconds_left: number | null;
  readonly held: number;
  readonly failing: {
    readonly tick: number;
    readonly upto: number;
    readonly failures: number;
    readonly since: string;
    readonly error: string;
  } | null;
  readonly cause: string | null;
}

/** How perspectives are: all, or the build that a name means. */
export function perspectiveStatus(
  db: Queryable,
  schema: string,
  name?: string,
): Promise<readonly StatusRow[]> {
  return answerOf(db, `${schema}.wh_perspective_status($1::text)`, [name ?? null]);
}

export interface HeldRow extends HoldRow {
  readonly event_id: string;
  readonly attempts: number;
  readonly since: string;
  readonly retry_at: string | null;
}

/** What is held in a perspective. Null: there is no such perspective. */
export function perspectiveHeld(
  db: Queryable,
  schema: string,
  name: string,
): Promise<readonly HeldRow[] | null> {
  return answerOf(db, `${schema}.wh_perspective_held($1::text)`, [name]);
}

/** Makes what is held due at once. */
export async function retryHeld(
  db: Queryable,
  schema: string,
  name: string,
  ids: readonly string[],
): Promise<void> {
  const list = 'array(select jsonb_array_elements_text($2::text::jsonb))';
  await db.query(`select ${schema}.wh_retry_held($1::text, ${list}) as retried`, [name, JSON.stringify(ids)]);
}

interface Skip {
  readonly version: number;
  readonly reason: string;
  readonly who: string;
}

/** Passes over the event at which something is held. */
export async function skipHeld(
  db: Queryable,
  schema: string,
  name: string,
  ids: readonly string[],
  { version, reason, who }: Skip,
): Promise<void> {
  const text = `
    select ${schema}.wh_skip_held($1::text, array(select jsonb_array_elements_text($2::text::jsonb)),
      $3::text::bigint, $4::text, $5::text) as skipped`;
  await db.query(text, [name, JSON.stringify(ids), String(version), reason, who]);
}
