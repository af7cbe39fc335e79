// The functions of sql/functions/timers: messages that wait for their time, and messages that are taken back.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
import type { Queryable } from '../database/index.js';
import type { MessageId, NewOutboxMessage, StreamId } from '../message.js';
import { oneRow } from './functions.js';
import { encodeNewMessages } from './insert-statement.js';

/** Separates messages that wait as timers from others. Both stay in their order. */
export function splitTimers(messages: readonly NewOutboxMessage[]): {
  readonly timers: readonly NewOutboxMessage[];
  readonly others: readonly NewOutboxMessage[];
} {
  const timers: NewOutboxMessage[] = [];
  const others: NewOutboxMessage[] = [];
  for (const { isTimer, ...message } of messages) (isTimer === true ? timers : others).push(message);
  return { timers, others };
}

/** Sets timers in a transaction of the caller. `isDirect`: they may go straight to the inbox. */
export async function setTimers(
  db: Queryable,
  schema: string,
  timers: readonly NewOutboxMessage[],
  isDirect: boolean,
): Promise<void> {
  const text = `select ${schema}.wh_set_timers($1::text::jsonb, ${isDirect})::text as set`;
  await db.query(text, [encodeNewMessages(timers)]);
}

interface FiredTimers {
  readonly fired: number;
  /** When the next one is due, in seconds since 1970 by the clock of the database. Undefined: none waits. */
  readonly nextDue: number | undefined;
  /** In how many seconds to call again. */
  readonly waitSeconds: number | undefined;
}

/** Sends the timers that are due. */
export async function fireTimers(db: Queryable, schema: string): Promise<FiredTimers> {
  const text = `select fired::text, next_due::text, wait_seconds::text from ${schema}.wh_fire_timers()`;
  const row = await oneRow<Record<'fired' | 'next_due' | 'wait_seconds', string | null>>(db, text);
  const waits = row.next_due !== null;
  return {
    fired: Number(row.fired),
    nextDue: waits ? Number(row.next_due) : undefined,
    waitSeconds: waits ? Number(row.wait_seconds) : undefined,
  };
}

/** A row of `wh_list_timers`, as JSON. `due_at` and `created_at` are milliseconds since 1970. */
export interface TimerRow {
  readonly message_id: MessageId;
  readonly event_type: string;
  readonly stream_id: StreamId | null;
  readonly destination: string;
  readonly due_at: number;
  readonly timer_order: number;
  readonly created_at: number;
  readonly scope: unknown;
}

interface TimerQuestion {
  readonly type: string | undefined;
  readonly streamId: StreamId | undefined;
  readonly limit: number;
  readonly after: { readonly dueAt: Date; readonly order: number } | undefined;
}

/** Reads the timers that wait, in the order in which they will fire. */
export async function listTimers(
  db: Queryable,
  schema: string,
  { type, streamId, limit, after }: TimerQuestion,
): Promise<readonly TimerRow[]> {
  const text = `
    select coalesce(json_agg(t), '[]')::text as timers
    from (
      select message_id, event_type, stream_id, destination, (extract(epoch from due_at) * 1000)::double precision as due_at,
             timer_order, (extract(epoch from created_at) * 1000)::double precision as created_at, scope
      from ${schema}.wh_list_timers($1::text, $2::uuid, $3::int, $4::text::double precision, $5::text::bigint)
    ) t`;
  const values = [
    type ?? null,
    streamId ?? null,
    limit,
    after === undefined ? null : String(after.dueAt.getTime() / 1000),
    after === undefined ? null : String(after.order),
  ];
  return JSON.parse((await oneRow<{ timers: string }>(db, text, values)).timers) as TimerRow[];
}

/** Takes back a message that has not begun. Returns whether it did. */
export async function cancelMessage(db: Queryable, schema: string, messageId: MessageId): Promise<boolean> {
  const text = `select ${schema}.wh_cancel_message($1::uuid)::text as cancelled`;
  return (await oneRow<{ cancelled: string }>(db, text, [messageId])).cancelled === 'true';
}
