// The functions of sql/functions for events: appended, read by stream and in the order of all events, and what deciders keep.
// For each there is one small function here, named after it.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
// Called by the event store. They never borrow a connection, wait with a limit or retry.
import type { Queryable } from '../database/index.js';
import type { EventRow, Receipt } from '../fold/index.js';
import type { NewOutboxMessage, StreamId } from '../message.js';
import { oneRow } from './functions.js';
import { encodeEvents } from './insert-statement.js';

/** Appends events to the event store. Returns a receipt for each, in their order. */
export async function appendEvents(
  db: Queryable,
  schema: string,
  events: readonly NewOutboxMessage[],
): Promise<readonly Receipt[]> {
  const text = `select ${schema}.wh_append($1::text::jsonb)::text as receipts`;
  const { receipts } = await oneRow<{ receipts: string }>(db, text, [encodeEvents(events)]);
  type Row = Pick<EventRow, 'event_id' | 'stream_id' | 'version' | 'sequence_number'>;
  return (JSON.parse(receipts) as Row[]).map((row) => ({
    eventId: row.event_id,
    streamId: row.stream_id,
    version: row.version,
    sequenceNumber: row.sequence_number,
  }));
}

/** Locks an event stream until the transaction ends. */
export async function lockStream(db: Queryable, schema: string, streamId: StreamId): Promise<void> {
  await db.query(`select ${schema}.wh_lock_stream($1::uuid)::text as version`, [streamId]);
}

interface StreamPage {
  readonly streamId: StreamId;
  /** Undefined: from the beginning, or backwards from the end. */
  readonly after: number | undefined;
  readonly limit: number;
  readonly backwards: boolean;
}

/** Reads events of a stream, in the order of their versions or backwards. */
export async function readStream(
  db: Queryable,
  schema: string,
  { streamId, after, limit, backwards }: StreamPage,
): Promise<readonly EventRow[]> {
  const text = `
    select coalesce(json_agg(e), '[]')::text as events
    from ${schema}.wh_read_stream($1::uuid, $2::text::bigint, $3::text::int, $4::text::boolean) e`;
  const values = [streamId, after === undefined ? null : String(after), String(limit), String(backwards)];
  return JSON.parse((await oneRow<{ events: string }>(db, text, values)).events) as EventRow[];
}

interface LoadedStream {
  readonly snapshot: { readonly version: number; readonly state: unknown } | null;
  readonly events: readonly EventRow[];
  /** The events up to this version were deleted. */
  readonly deleted_through: number;
  /** The keys of the subjects that the stream may have sealed events of. */
  readonly key_ids: readonly string[];
}

/** Reads the kept state of a stream and the events after it. */
export async function loadStream(
  db: Queryable,
  schema: string,
  { streamId, decider, fold, limit }: { streamId: StreamId; decider: string; fold: string; limit: number },
): Promise<LoadedStream> {
  const text = `select ${schema}.wh_load_stream($1::uuid, $2::text, $3::text, $4::text::int)::text as loaded`;
  const { loaded } = await oneRow<{ loaded: string }>(db, text, [streamId, decider, fold, String(limit)]);
  return JSON.parse(loaded) as LoadedStream;
}

interface NewSnapshot {
  readonly streamId: StreamId;
  readonly decider: string;
  readonly fold: string;
  readonly version: number;
  /** As JSON. */
  readonly state: string;
  /** The keys that the load has returned: the state is not kept if one of them is gone. */
  readonly keyIds: readonly string[];
}

/** Keeps the state of a stream at a version. */
export async function saveSnapshot(
  db: Queryable,
  schema: string,
  { streamId, decider, fold, version, state, keyIds }: NewSnapshot,
): Promise<void> {
  const text = `
    select ${schema}.wh_save_snapshot(
      $1::uuid, $2::text, $3::text, $4::text::bigint, $5::text::json,
      array(select jsonb_array_elements_text($6::text::jsonb)::uuid)) as saved`;
  await db.query(text, [streamId, decider, fold, String(version), state, JSON.stringify(keyIds)]);
}

/**
 * Makes a tick of the events whose transactions have ended since the last one. Returns
 * the newest tick, null when there is none. It never waits; call it in a short transaction.
 */
export async function tick(db: Queryable, schema: string): Promise<number | null> {
  const { tick } = await oneRow<{ tick: string | null }>(db, `select ${schema}.wh_tick()::text as tick`);
  return tick === null ? null : Number(tick);
}

/**
 * Looks for events that no tick has, and seals them. Returns their
 * numbers, at most 1 000. There should never be one. Also merges old ticks.
 */
export async function auditTicks(db: Queryable, schema: string): Promise<readonly number[]> {
  const text = `select to_json(${schema}.wh_audit_ticks()::text[])::text as numbers`;
  const { numbers } = await oneRow<{ numbers: string }>(db, text);
  return (JSON.parse(numbers) as string[]).map(Number);
}

/** A place in the order of all events. */
export interface TickPosition {
  readonly tick: number;
  readonly sequenceNumber: number;
}

/** An event at its place. A last row without an event says how far the read has looked. */
type TickedRow = { readonly tick: number } & (
  | EventRow
  | { readonly event_id: null; readonly sequence_number: number }
);

/**
 * Reads events in the order of all events, behind a position, of these types or of all. The next
 * read goes on behind the last row, which may have no event. No row: there is nothing behind the position.
 */
export async function readEvents(
  db: Queryable,
  schema: string,
  after: TickPosition,
  types: readonly string[] | undefined,
  limit: number,
): Promise<readonly TickedRow[]> {
  const text = `
    select coalesce(json_agg(e), '[]')::text as events
    from ${schema}.wh_read_events(
      p_after_tick => $1::text::bigint, p_after_number => $2::text::bigint,
      p_types => case when $3::text is not null then array(select jsonb_array_elements_text($3::text::jsonb)) end,
      p_limit => $4::text::int) e`;
  const values = [
    String(after.tick),
    String(after.sequenceNumber),
    types === undefined ? null : JSON.stringify(types),
    String(limit),
  ];
  return JSON.parse((await oneRow<{ events: string }>(db, text, values)).events) as TickedRow[];
}
