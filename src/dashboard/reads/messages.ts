// One message: where it is, which way it came, and why it does not run; and the search for messages.
import type { Queryable } from '../../database/index.js';
import { rowsOf } from './reader.js';

/** What a message says of its way. */
interface Trail {
  readonly keptIn: string;
  readonly target: string;
  readonly correlationId: string | null;
  readonly causationId: string | null;
  readonly traceparent: string | null;
  readonly hops: readonly unknown[] | null;
}

export async function readTrail(db: Queryable, schema: string, messageId: string): Promise<Trail | null> {
  const rows = await rowsOf<Trail>(
    db,
    `select kept_in as "keptIn", target, correlation_id as "correlationId", causation_id as "causationId", traceparent, hops
     from ${schema}.wh_messages where message_id = $1::uuid limit 1`,
    [messageId],
  );
  return rows[0] ?? null;
}

/** A lane that the message has passed, where it has a history. */
interface Passed {
  readonly lane: string;
  readonly target: string;
  readonly attempts: number;
  readonly storedAt: string;
  readonly finishedAt: string;
  readonly instanceId: string;
  readonly traceparent: string | null;
  readonly hops: readonly unknown[] | null;
}

export function readPassed(db: Queryable, schema: string, messageId: string): Promise<Passed[]> {
  return rowsOf<Passed>(
    db,
    `select lane, target, attempts, stored_at as "storedAt", finished_at as "finishedAt", instance_id as "instanceId", traceparent, hops
     from ${schema}.wh_finished_messages where message_id = $1::uuid order by stored_at, finished_at limit 10`,
    [messageId],
  );
}

/** What can be explained. */
type Explained = 'message' | 'stream';

/** Whether the schema has the function that explains, and the role of the page may call it. */
export async function canExplain(db: Queryable, schema: string, what: Explained): Promise<boolean> {
  const [row] = await rowsOf<{ can: boolean }>(
    db,
    'select coalesce(has_function_privilege(to_regprocedure($1), $2), false) as can',
    [`${schema}.wh_explain_${what}(uuid)`, 'execute'],
  );
  return row?.can === true;
}

export function explain(db: Queryable, schema: string, what: Explained, id: string): Promise<object[]> {
  return rowsOf(
    db,
    `select step, code, is_blocking as "isBlocking", text, nullif(since, '-infinity') as since, nullif(until, 'infinity') as until, facts, remedy
     from ${schema}.wh_explain_${what}($1::uuid) order by step`,
    [id],
  );
}

/** How many of the newest messages of each lane are searched. No index has types: more would be a read of the whole table. */
export const searchedMessages = 100_000;

export function searchType(db: Queryable, schema: string, type: string): Promise<object[]> {
  const lane = (name: string) => `
    (select * from (
       select kept_in as "keptIn", message_id as "messageId", event_type as type, stream_id as "streamId", attempts,
         stored_at as "storedAt", error
       from ${schema}.wh_messages where kept_in = '${name}' order by message_id desc limit ${searchedMessages}) n
     where position(lower($1) in lower(type)) > 0 limit 50)`;
  return rowsOf(
    db,
    `select * from (${['outbox', 'inbox', 'dead letters', 'timers'].map(lane).join(' union all ')}) f
     order by "messageId" desc limit 100`,
    [type],
  );
}
