// The messages in a database that are not completed, and why; and the perspectives that have not caught up.
import { type ConnectionPool, type Queryable, quoteSchema, withPooledClient } from '../database/index.js';
import type { MessageId } from '../message.js';
import { type OpenPerspective, openPerspectives } from './open-perspectives.js';

export interface OpenMessage {
  readonly lane: 'outbox' | 'inbox' | 'timer';
  readonly messageId: MessageId;
  readonly type: string;
  /** How many attempts have failed. `error` is that of the last one. */
  readonly attempts: number;
  readonly error: string | null;
  /** The id of the first message of its stream; its own id when no message is before it. */
  readonly headId: MessageId;
  /**
   * `held`: an instance holds it. `waiting`: it could be claimed. `delayed`: the first message of its stream
   * was sent for a later time. `failed`: the first message of its stream waits for its next attempt.
   */
  readonly state: 'held' | 'waiting' | 'delayed' | 'failed';
}

export interface OpenWork {
  readonly messages: readonly OpenMessage[];
  readonly perspectives: readonly OpenPerspective[];
}

/**
 * Reads what is open, in one snapshot: a message that becomes an event of a perspective, or an event of which a
 * perspective publishes something, is seen as one of the two. `codes` are the perspectives: `orders@1`.
 */
export async function openWork(
  pool: ConnectionPool,
  schema: string,
  codes: readonly string[],
): Promise<OpenWork> {
  const s = quoteSchema(schema);
  return withPooledClient(pool, async (client) => {
    if (codes.length === 0) return { messages: await openMessages(client, s), perspectives: [] };
    await client.query('begin isolation level repeatable read read only');
    try {
      const messages = await openMessages(client, s);
      return { messages, perspectives: await openPerspectives(client, s, codes) };
    } finally {
      await client.query('rollback');
    }
  });
}

/** In one statement, so that a message that moves from one table to the other is seen in one of them. */
async function openMessages(db: Queryable, s: string): Promise<readonly OpenMessage[]> {
  const columns =
    'message_id, event_type, stream_key, sequence_order, attempts, error, scheduled_for, instance_id, lease_expiry, partition_number';
  const text = `
    with open as (
      select 'outbox' as lane, ${columns} from ${s}.wh_outbox where processed_at is null
      union all
      select 'inbox', ${columns} from ${s}.wh_inbox where processed_at is null
      union all
      select 'timer', message_id, event_type, message_id, timer_order, 0, null, due_at, null, null, 0 from ${s}.wh_timers
    ), placed as (
      select o.*, first_value(o.message_id) over stream as head_id,
             first_value(o.scheduled_for) over stream as head_scheduled_for,
             first_value(o.attempts) over stream as head_attempts
      from open o
      window stream as (partition by o.lane, o.stream_key order by o.sequence_order)
    )
    select p.lane, p.message_id as "messageId", p.event_type as type, p.attempts, p.error, p.head_id as "headId",
           case when p.instance_id is not null and p.lease_expiry > clock_timestamp() then 'held'
                when p.partition_number is null then 'waiting' -- for the runtime to see it at all
                when p.head_scheduled_for > clock_timestamp() and p.head_attempts = 0 then 'delayed'
                when p.head_scheduled_for > clock_timestamp() then 'failed'
                else 'waiting' end as state
    from placed p
    order by p.lane desc, p.sequence_order`;
  return (await db.query(text)).rows as OpenMessage[];
}

/** Describes an open message in one line for people. */
export function describeOpen(message: OpenMessage, context: { readonly isHandled: boolean }): string {
  const { lane, type, messageId, attempts, error } = message;
  const failures =
    attempts === 0 ? '' : `; it has failed ${attempts} times, the last time with: ${firstLine(error)}`;
  return `- ${lane} ${type} ${messageId}: ${reasonOf(message, context)}${failures}`;
}

function reasonOf({ lane, messageId, headId, state }: OpenMessage, { isHandled }: { isHandled: boolean }) {
  if (lane === 'inbox' && !isHandled) return 'the service has no receptor for it';
  if (headId !== messageId) return `it waits behind ${headId} of its stream`;
  if (state === 'held')
    return lane === 'inbox' ? 'its receptor has not returned' : 'the transport has not taken it';
  if (state === 'failed') return 'it waits for its next attempt';
  if (state === 'delayed') return 'it is scheduled for later';
  if (lane === 'timer') return 'it is due, and about to be sent';
  return lane === 'inbox' ? 'it waits for its receptor' : 'it waits to be sent';
}

const firstLine = (text: string | null) => text?.split('\n')[0] ?? 'no error';
