// The functions of sql/functions/operate: to look at messages and to act on them.
// For each there is one small function here, named after it.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
// Called by the operating part and by retention. They never borrow a connection, wait with a limit or retry.
import type { Queryable } from '../database/index.js';
import type { MessageId, StreamId } from '../message.js';
import { oneRow } from './functions.js';

/** The row of a message, with its state. */
interface FoundMessageRow {
  readonly message_id: MessageId;
  readonly state: string;
  readonly source: 'outbox' | 'inbox';
  readonly event_type: string | null;
  readonly event_data: unknown;
  readonly scope: unknown;
  readonly stream_id: StreamId | null;
  readonly attempts: number | null;
  readonly error: string | null;
  readonly stored_at: string;
  readonly due_at: string | null;
  readonly held_by: string | null;
  readonly behind: MessageId | null;
  readonly failures: readonly FailureRow[] | null;
}

/** A failure in the history of a message. */
export interface FailureRow {
  readonly at: string;
  readonly attempt: number;
  readonly instance_id: string;
  readonly error: string;
}

/** Returns a message and its state. Undefined: the schema does not know it. */
export async function findMessage(
  db: Queryable,
  schema: string,
  messageId: MessageId,
): Promise<FoundMessageRow | undefined> {
  const text = `select row_to_json(f)::text as message from ${schema}.wh_find_message($1::uuid) f`;
  const row = await oneRow<{ message: string } | undefined>(db, text, [messageId]);
  return row === undefined ? undefined : (JSON.parse(row.message) as FoundMessageRow);
}

/** Makes a message due now that waits for a time. Returns whether it waited. */
export async function retryNow(
  db: Queryable,
  schema: string,
  messageId: MessageId,
  who?: string,
): Promise<boolean> {
  const text = `select ${schema}.wh_retry_now($1::uuid, $2::text)::text as answer`;
  return (await oneRow<{ answer: string }>(db, text, [messageId, who ?? null])).answer === 'true';
}

/** Which dead letters: those that fit all that is given. */
export interface DeadLetterChoice {
  readonly messageId?: MessageId | undefined;
  readonly streamId?: StreamId | undefined;
  readonly type?: string | undefined;
}

/** The row of a dead letter. */
export interface DeadLetterRow {
  readonly dead_letter_id: number;
  readonly message_id: MessageId;
  readonly source: 'outbox' | 'inbox';
  readonly event_type: string;
  readonly event_data: unknown;
  readonly scope: unknown;
  readonly stream_id: StreamId | null;
  readonly destination: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly failures: readonly FailureRow[] | null;
  readonly stored_at: string;
  readonly died_at: string;
}

/** Returns dead letters, the newest first. */
export async function listDeadLetters(
  db: Queryable,
  schema: string,
  choice: DeadLetterChoice,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<readonly DeadLetterRow[]> {
  const text = `
    select coalesce(json_agg(d), '[]')::text as rows
    from ${schema}.wh_list_dead_letters(
      $1::text::uuid, $2::text::uuid, $3::text, coalesce($4::text::bigint, 9223372036854775807), $5::text::int) d`;
  const values = [...chosen(choice), before === undefined ? null : String(before), String(limit)];
  return JSON.parse((await oneRow<{ rows: string }>(db, text, values)).rows) as DeadLetterRow[];
}

/** A dead letter that was put back or discarded, or would be. */
export interface PickedRow
  extends Pick<DeadLetterRow, 'dead_letter_id' | 'message_id' | 'source' | 'event_type' | 'stream_id'> {
  /** Of one that is put back: whether unfinished messages of its stream are before it. */
  readonly is_behind?: boolean;
}

interface Picking {
  readonly dryRun: boolean;
  /** Goes on behind this number. */
  readonly after: number;
  readonly limit: number;
  /** Who does it. Undefined: the role and the application of the session. */
  readonly who?: string | undefined;
}

/** Puts dead letters back at the end of their streams. Returns the next so many. */
export function retryDeadLetters(
  db: Queryable,
  schema: string,
  choice: DeadLetterChoice,
  picking: Picking,
): Promise<readonly PickedRow[]> {
  return pick(db, `${schema}.wh_retry_dead_letters`, choice, picking);
}

/** Deletes dead letters. Returns the next so many. */
export function discardDeadLetters(
  db: Queryable,
  schema: string,
  choice: DeadLetterChoice,
  picking: Picking,
): Promise<readonly PickedRow[]> {
  return pick(db, `${schema}.wh_discard_dead_letters`, choice, picking);
}

async function pick(
  db: Queryable,
  name: string,
  choice: DeadLetterChoice,
  { dryRun, after, limit, who }: Picking,
): Promise<readonly PickedRow[]> {
  const text = `
    select coalesce(json_agg(d), '[]')::text as rows
    from ${name}($1::text::uuid, $2::text::uuid, $3::text, $4::text::boolean, $5::text::bigint, $6::text::int, $7::text) d`;
  const values = [...chosen(choice), String(dryRun), String(after), String(limit), who ?? null];
  return JSON.parse((await oneRow<{ rows: string }>(db, text, values)).rows) as PickedRow[];
}

const chosen = ({ messageId, streamId, type }: DeadLetterChoice) => [
  messageId ?? null,
  streamId ?? null,
  type ?? null,
];

/** After how many days what is deleted. Undefined: nothing of it. */
interface ExpiryDays {
  readonly deduplicationDays?: number | undefined;
  readonly deadLetterDays?: number | undefined;
  readonly operationDays?: number | undefined;
}

/** Does one step of retention: how many were deleted. Undefined: it is not the time, or another instance is at it. */
export async function expire(
  db: Queryable,
  schema: string,
  { deduplicationDays, deadLetterDays, operationDays }: ExpiryDays,
): Promise<Readonly<Record<'ids' | 'deadLetters' | 'operations', number>> | undefined> {
  const number = (place: number) => `$${place}::text::double precision`;
  const text = `select ${schema}.wh_expire(${number(1)}, ${number(2)}, ${number(3)})::text as expired`;
  const values = [deduplicationDays, deadLetterDays, operationDays].map((each) => each?.toString() ?? null);
  const { expired } = await oneRow<{ expired: string | null }>(db, text, values);
  if (expired === null) return undefined;
  const { ids, dead_letters: deadLetters, operations } = JSON.parse(expired) as Record<string, number>;
  return { ids: ids as number, deadLetters: deadLetters as number, operations: operations as number };
}

/** What a whole service is like, for metrics. */
export interface GaugesRow {
  readonly lanes: readonly {
    readonly lane: 'outbox' | 'inbox';
    readonly streams: Readonly<Record<'due' | 'scheduled' | 'limited' | 'unhandled' | 'paused', number>>;
    readonly leases: number;
    readonly new_messages: number;
    readonly age_seconds: number;
    readonly dead_letters: number;
  }[];
  readonly instances: Readonly<Record<'living' | 'silent', number>>;
  readonly perspectives: readonly {
    readonly name: string;
    readonly lag_events: number;
    readonly lag_seconds: number;
    readonly held: number;
  }[];
}

/** Returns what the service is like. Null: another instance tells it. */
export async function readGauges(
  db: Queryable,
  schema: string,
  instanceId: string,
): Promise<GaugesRow | null> {
  const text = `select ${schema}.wh_gauges($1::uuid)::text as gauges`;
  const { gauges } = await oneRow<{ gauges: string | null }>(db, text, [instanceId]);
  return gauges === null ? null : (JSON.parse(gauges) as GaugesRow);
}

/** What an instance did out of order: a row of wh_order_violations. */
interface OrderViolation {
  readonly kind: 'overtook' | 'too-late' | 'arrived-late';
  readonly lane: 'outbox' | 'inbox';
  readonly streamId: StreamId;
  readonly messageId: MessageId;
  readonly otherId: MessageId | null;
}

/** Returns what this instance did out of order, behind a place, and where the next look begins. */
export async function orderWatch(
  db: Queryable,
  schema: string,
  instanceId: string,
  after: number,
): Promise<{ readonly last: number; readonly found: readonly OrderViolation[] }> {
  const text = `select ${schema}.wh_order_watch($1::uuid, $2::text::bigint)::text as answer`;
  const { answer } = await oneRow<{ answer: string }>(db, text, [instanceId, String(after)]);
  return JSON.parse(answer) as { last: number; found: OrderViolation[] };
}
