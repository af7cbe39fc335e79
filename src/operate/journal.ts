// What has happened, and what is there, without payloads: operations, pauses, dead letters, events. In: tables and views that a role
// for looking may read. Out: plain objects, as `--json` prints them.
import type { Queryable } from '../database/index.js';

/** What an operator has done. */
export interface Operation {
  readonly id: number;
  readonly at: Date;
  readonly who: string;
  readonly operation: string;
  readonly target: string;
  /** How it was before. */
  readonly before: unknown;
  /** The role of the session in which it was done. */
  readonly role: string;
}

/** Something that is paused. */
export interface Pause {
  readonly kind: 'type' | 'stream' | 'intake';
  readonly name: string;
  readonly since: Date;
  readonly who: string;
  readonly reason: string | null;
}

interface DeadLetterHead {
  readonly number: number;
  readonly messageId: string;
  readonly lane: 'outbox' | 'inbox';
  readonly type: string;
  readonly streamId: string | null;
  readonly attempts: number;
  readonly error: string;
  readonly storedAt: Date;
  readonly diedAt: Date;
}

interface EventHead {
  readonly position: number;
  readonly eventId: string;
  readonly streamId: string;
  readonly version: number;
  readonly type: string;
  readonly at: Date;
  readonly payload?: unknown;
}

interface Page {
  readonly limit: number;
  readonly before?: number | undefined;
}

/** Returns operations, the newest first, or from a number on. The schema is in quotes here and below. */
export function listOperations(db: Queryable, schema: string, { limit, before }: Page): Promise<Operation[]> {
  return rows(
    db,
    `select id as id, at, who, operation, target, before, role_name as role
     from ${schema}.wh_operations where id < coalesce($1::text::bigint, 9223372036854775807) order by id desc limit $2::text::int`,
    [before, limit],
  );
}

export function listPauses(db: Queryable, schema: string): Promise<Pause[]> {
  return rows(
    db,
    `select kind, name, since, who, reason from ${schema}.wh_pauses order by since, kind, name`,
    [],
  );
}

const letterColumns = `dead_letter_id as number, message_id as "messageId", lane, event_type as type, stream_id as "streamId",
  attempts, error, stored_at as "storedAt", died_at as "diedAt"`;

/** Returns dead letters, the newest first. */
export function listDeadLetterHeads(
  db: Queryable,
  schema: string,
  choice: { readonly streamId?: string | undefined; readonly type?: string | undefined },
  { limit, before }: Page,
): Promise<DeadLetterHead[]> {
  return rows(
    db,
    `select ${letterColumns} from ${schema}.wh_dead_letter_list
     where dead_letter_id < coalesce($1::text::bigint, 9223372036854775807)
       and ($2::text is null or stream_id = $2::text::uuid) and ($3::text is null or event_type = $3::text)
     order by dead_letter_id desc limit $4::text::int`,
    [before, choice.streamId, choice.type, limit],
  );
}

/** Returns how many dead letters there are of a stream, a type or both, up to so many. */
export async function countDeadLetters(
  db: Queryable,
  schema: string,
  choice: { readonly streamId?: string | undefined; readonly type?: string | undefined },
  most: number,
): Promise<number> {
  const text = `
    select count(*)::text as count from (
      select from ${schema}.wh_dead_letter_list
      where ($1::text is null or stream_id = $1::text::uuid) and ($2::text is null or event_type = $2::text)
      limit $3::text::int
    ) d`;
  const [found] = await rows<{ count: string }>(db, text, [choice.streamId, choice.type, most]);
  return Number(found?.count);
}

/** Returns the dead letter of a message, the last one if it has several. */
export async function findDeadLetterHead(
  db: Queryable,
  schema: string,
  messageId: string,
): Promise<DeadLetterHead | undefined> {
  const text = `select ${letterColumns} from ${schema}.wh_dead_letter_list
    where message_id = $1::text::uuid order by dead_letter_id desc limit 1`;
  return (await rows<DeadLetterHead>(db, text, [messageId]))[0];
}

/** Returns the events of a stream from a version on, or of all streams from a position on. Payloads only if asked for. */
export function listEvents(
  db: Queryable,
  schema: string,
  choice: { readonly streamId?: string | undefined; readonly from: number; readonly limit: number },
  hasPayloads: boolean,
): Promise<EventHead[]> {
  const order = choice.streamId === undefined ? 'sequence_number' : 'version';
  return rows(
    db,
    `select sequence_number as position, event_id as "eventId", stream_id as "streamId", version as version,
       event_type as type, created_at as at${hasPayloads ? ', event_data as payload' : ''}
     from ${schema}.${hasPayloads ? 'wh_events' : 'wh_event_list'}
     where ($1::text is null or stream_id = $1::text::uuid) and ${order} >= $2::text::bigint
     order by ${order} limit $3::text::int`,
    [choice.streamId, choice.from, choice.limit],
  );
}

const times = new Set(['at', 'since', 'storedAt', 'diedAt']);

/** As JSON: what a pool makes of times and numbers is its owner's choice. */
async function rows<Row>(db: Queryable, text: string, values: readonly unknown[]): Promise<Row[]> {
  const given = values.map((value) => (value === undefined ? null : String(value)));
  const answer = await db.query(`select coalesce(json_agg(r), '[]')::text as rows from (${text}) r`, given);
  const found = JSON.parse((answer.rows as { rows: string }[])[0]?.rows ?? '[]') as Record<string, unknown>[];
  return found.map(
    (row) =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [key, times.has(key) ? new Date(value as string) : value]),
      ) as Row,
  );
}
