// Time passes by update, never by waiting: leases expire, and scheduled messages become due.
// Locks in the order of the runtime: the rows of streams first, then their messages. The transaction has its
// id before it reads the clock, so that the floors of the searches (docs/internals) take it into account.
import { type ConnectionPool, quoteSchema, withPooledClient } from '../database/index.js';
import type { InstanceId } from '../message.js';

/**
 * Expires the leases of an instance now. It still counts as alive: in production, too, its leases end before
 * it is stale.
 */
export async function expireLeases(
  pool: ConnectionPool,
  schema: string,
  instanceId: InstanceId,
): Promise<void> {
  const s = quoteSchema(schema);
  await inTransaction(pool, s, [
    [
      `update ${s}.wh_active_streams set lease_expiry = clock_timestamp()
       where lane = any(array['outbox', 'inbox']) and instance_id = $1 and lease_expiry > clock_timestamp()`,
      [instanceId],
    ],
    ...['wh_outbox', 'wh_inbox'].map(
      (table): Statement => [
        `update ${s}.${table} set lease_expiry = clock_timestamp()
         where instance_id = $1 and lease_expiry > clock_timestamp()`,
        [instanceId],
      ],
    ),
    [
      `update ${s}.wh_perspective_bookmarks set lease_expiry = clock_timestamp()
       where instance_id = $1 and lease_expiry > clock_timestamp()`,
      [instanceId],
    ],
  ]);
}

/**
 * Makes scheduled messages due now: those sent with a delay, or those that failed and wait for a retry, with the
 * streams that are held in perspectives.
 */
export async function makeDue(
  pool: ConnectionPool,
  schema: string,
  what: 'delayed' | 'failed',
): Promise<void> {
  const s = quoteSchema(schema);
  const isMeant = `scheduled_for > clock_timestamp() and processed_at is null
    and attempts ${what === 'failed' ? '> 0' : '= 0'}`;
  const lanes = ['outbox', 'inbox'];
  await inTransaction(pool, s, [
    ...lanes.map(
      (lane): Statement => [
        `update ${s}.wh_active_streams a set available_at = clock_timestamp()
         where a.lane = $1 and a.available_at > clock_timestamp()
           and exists (select 1 from ${s}.wh_${lane} where stream_key = a.stream_id and ${isMeant})`,
        [lane],
      ],
    ),
    ...lanes.map(
      (lane): Statement => [
        `update ${s}.wh_${lane} set scheduled_for = clock_timestamp() where ${isMeant}`,
        [],
      ],
    ),
    what === 'failed' ? [heldStatement(s), []] : [timersStatement(s), []],
  ]);
}

const heldStatement = (s: string) =>
  `update ${s}.wh_perspective_checkpoints set retry_at = clock_timestamp() where held and retry_at > clock_timestamp()`;

/** All become due, and stay in their order. */
const timersStatement = (s: string) =>
  `with last as (select max(due_at) as due_at from ${s}.wh_timers)
   update ${s}.wh_timers t set due_at = t.due_at - (l.due_at - date_trunc('milliseconds', clock_timestamp()))
   from last l where l.due_at > clock_timestamp()`;

type Statement = [text: string, values: unknown[]];

async function inTransaction(
  pool: ConnectionPool,
  schema: string,
  statements: readonly Statement[],
): Promise<void> {
  await withPooledClient(pool, async (client) => {
    await client.query('begin');
    try {
      await client.query('select pg_current_xact_id()');
      for (const [text, values] of statements) await client.query(text, values);
      await client.query(
        `select pg_notify(${schema}.wh_channel(), payload) from unnest(array['', 'timer 0']) payload`,
      );
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  });
}
