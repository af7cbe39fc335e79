// The functions of sql/functions/perspectives. For each there is one small function here, named after it.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
// Called by the perspectives. They never borrow a connection, wait with a limit or retry.
import type { Queryable } from '../database/index.js';
import type { EventRow } from '../fold/index.js';
import type { StreamId } from '../message.js';
import { oneRow } from './functions.js';

/** What an instance says of a perspective when it starts. */
export interface PerspectiveFacts {
  readonly name: string;
  readonly version: number;
  readonly kind: 'stream' | 'keyed' | 'custom';
  readonly is_inline: boolean;
  readonly event_types: readonly string[];
  readonly fingerprint: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly indexes: readonly (readonly string[])[];
}

interface RegisteredPerspective {
  /** The newest build of this code: `orders@2`, `orders@2.3`. */
  readonly name: string;
  readonly state: PerspectiveState;
  readonly is_new: boolean;
  /** The code is another one under the same version. */
  readonly has_changed: boolean;
}

export type PerspectiveState = 'building' | 'beside' | 'live' | 'retired';

export async function registerPerspective(
  db: Queryable,
  schema: string,
  instanceId: string,
  facts: PerspectiveFacts,
): Promise<RegisteredPerspective> {
  const text = `select ${schema}.wh_register_perspective($1::uuid, $2::text::jsonb)::text as registered`;
  const { registered } = await oneRow<{ registered: string }>(db, text, [instanceId, JSON.stringify(facts)]);
  return JSON.parse(registered) as RegisteredPerspective;
}

/** An event of a batch. */
export interface BatchRow extends EventRow {
  /** Its tick, when it was read from the log. */
  readonly tick?: number;
  /** Whether what is made of it may be announced. */
  readonly announces: boolean;
  /** Its stream is held: it is passed by. */
  readonly held: boolean;
}

/** A stream, or the model of a key, whose retry is due. */
export interface DueRow {
  readonly stream_id: StreamId;
  readonly model_key?: string;
  readonly attempts: number;
  /** Whether the batch has all events that it still needs. */
  readonly is_whole?: boolean;
}

/** What comes next behind a bookmark, and where it moves to. */
export interface NextBatch {
  readonly mode: 'held' | 'sweep' | 'log' | 'switch' | 'ahead';
  readonly tick: number;
  readonly upto: number;
  readonly swept: number | null;
  /** A long stream of a sweep that is read up to this version, and further in the next batch. */
  readonly part?: { readonly stream_id: StreamId; readonly version: number } | null;
  readonly events: readonly BatchRow[];
  /** The models of their streams, where they were read along. */
  readonly models?: readonly ModelRow[] | null;
  readonly held?: readonly DueRow[];
  /** Where the read for a held key has ended, before the bookmark. */
  readonly through?: { readonly tick: number; readonly upto: number } | null;
}

/** A bookmark that is held, and what comes next. */
export interface TakenBookmark {
  readonly tick: number;
  readonly upto: number;
  /** A move names it: one that was read before something else happened to the bookmark is refused. */
  readonly fence: number;
  /** How often whoever had it before died or stalled. */
  readonly interruptions: number;
  /** Whether events come one by one, because one of them may end the process. */
  readonly is_careful: boolean;
  readonly state: PerspectiveState;
  /** Null: nothing; the bookmark was released. */
  readonly next: NextBatch | null;
}

/** A range of partitions in a build of a perspective, leased to an instance. */
export interface BookmarkKey {
  readonly instanceId: string;
  readonly name: string;
  readonly from: number;
}

/** Reads what comes next. Null: the instance does not hold the bookmark. */
export async function takeBookmark(
  db: Queryable,
  schema: string,
  { instanceId, name, from }: BookmarkKey,
  limit: number,
  locks = false,
): Promise<TakenBookmark | null> {
  const text = `select ${schema}.wh_take_bookmark($1::uuid, $2::text, $3::text::int, $4::text::int, $5::text::boolean)::text as taken`;
  const values = [instanceId, name, String(from), String(limit), String(locks)];
  return readTaken(await oneRow<{ taken: string | null }>(db, text, values));
}

/** Notes that a batch has failed as a whole, for those who ask. */
export async function noteFailure(
  db: Queryable,
  schema: string,
  { instanceId, name, from }: BookmarkKey,
  error: string,
): Promise<void> {
  const text = `select ${schema}.wh_note_failure($1::uuid, $2::text, $3::text::int, $4::text) as noted`;
  await db.query(text, [instanceId, name, String(from), error]);
}

/** Reads what comes in a sweep behind a batch that was not moved behind yet. Null: the bookmark was lost. */
export async function readAhead(
  db: Queryable,
  schema: string,
  { instanceId, name, from }: BookmarkKey,
  swept: number,
  limit: number,
): Promise<NextBatch | null> {
  const text = `select ${schema}.wh_read_ahead($1::uuid, $2::text, $3::text::int, $4::text::bigint, $5::text::int)::text as next`;
  const values = [instanceId, name, String(from), String(swept), String(limit)];
  const { next } = await oneRow<{ next: string | null }>(db, text, values);
  return next === null ? null : (JSON.parse(next) as NextBatch);
}

interface Move {
  readonly taken: TakenBookmark;
  readonly next: NextBatch;
  /** As JSON: see wh_move_bookmark. */
  readonly results: string;
  readonly leaseSeconds: number;
  readonly limit: number;
  /** False: the bookmark is released. */
  readonly goesOn: boolean;
  /** What comes next is read by `readAhead`. If that is still so, the answer has the mode ahead. */
  readonly isAhead?: boolean;
}

/** Stores what was made of a batch and moves the bookmark. Null: it was not held any more, and nothing was stored. */
export async function moveBookmark(
  db: Queryable,
  schema: string,
  { instanceId, name, from }: BookmarkKey,
  { taken, next, results, leaseSeconds, limit, goesOn, isAhead = false }: Move,
): Promise<TakenBookmark | null> {
  const text = `
    select ${schema}.wh_move_bookmark($1::uuid, $2::text, $3::text::int, $4::text::jsonb, $5::text::jsonb, $6::text::int,
      $7::text::int, $8::text::boolean)::text as taken`;
  const move = {
    tick: taken.tick,
    upto: taken.upto,
    fence: taken.fence,
    to_tick: next.tick,
    to_upto: next.upto,
    swept: next.swept,
    part: next.part,
    events: next.events.length,
    is_ahead: isAhead,
  };
  const values = [
    instanceId,
    name,
    String(from),
    JSON.stringify(move),
    results,
    String(leaseSeconds),
    String(limit),
    String(goesOn),
  ];
  return readTaken(await oneRow<{ taken: string | null }>(db, text, values));
}

function readTaken({ taken }: { readonly taken: string | null }): TakenBookmark | null {
  return taken === null ? null : (JSON.parse(taken) as TakenBookmark);
}

/** A model as it is in its table. */
export interface ModelRow {
  readonly id: string;
  readonly model: unknown;
  readonly version: number;
  readonly held?: boolean | null;
}

/** Reads models by their ids. Those that are not there are left out. */
export async function readModels(
  db: Queryable,
  schema: string,
  name: string,
  ids: readonly string[],
): Promise<readonly ModelRow[]> {
  const text = `
    select ${schema}.wh_read_models($1::text, array(select jsonb_array_elements_text($2::text::jsonb)))::text as models`;
  const { models } = await oneRow<{ models: string }>(db, text, [name, JSON.stringify(ids)]);
  return JSON.parse(models) as ModelRow[];
}

/** An inline perspective, and the streams whose models are behind their events. */
interface InlineModels {
  readonly name: string;
  readonly code: string;
  readonly streams: readonly (ModelRow & { readonly events: readonly EventRow[] })[];
}

/** Reads what inline perspectives need to bring their models of these streams up to date. */
export async function inlineModels(
  db: Queryable,
  schema: string,
  codes: readonly string[],
  streamIds: readonly StreamId[],
): Promise<readonly InlineModels[]> {
  const text = `
    select ${schema}.wh_inline_models(array(select jsonb_array_elements_text($1::text::jsonb)), $2::text::uuid[])::text as models`;
  const values = [JSON.stringify(codes), `{${streamIds.join(',')}}`];
  return JSON.parse((await oneRow<{ models: string }>(db, text, values)).models) as InlineModels[];
}

/** Stores models of an inline perspective. Returns why they were not stored, or null. */
export async function writeInline(
  db: Queryable,
  schema: string,
  name: string,
  models: readonly object[],
): Promise<string | null> {
  const text = `select ${schema}.wh_write_inline($1::text, $2::text::jsonb) as refusal`;
  return (await oneRow<{ refusal: string | null }>(db, text, [name, JSON.stringify(models)])).refusal;
}
