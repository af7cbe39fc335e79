import { randomUUID } from 'node:crypto';
import { streamIdOf, type Whizbang } from '../../src/index.js';
import type { TestDatabase } from '../support/database.js';

/** A message in the inbox, as if a transport had stored it. */
export async function arrive(
  db: TestDatabase,
  type: string,
  payload: { readonly orderId: string } & Record<string, unknown>,
  metadata: object = {},
): Promise<string> {
  const messageId = randomUUID();
  await db.pool.query(
    `insert into wh_inbox (message_id, handler_name, event_type, event_data, metadata, stream_id)
     values ($1, $2, $2, $3, $4, $5)`,
    [messageId, type, JSON.stringify(payload), JSON.stringify(metadata), streamIdOf(payload.orderId)],
  );
  return messageId;
}

/** An instance's leases end now, as if their time had passed. (A moment ago might lie below the floor of the search for them.) */
export async function endLeases(db: TestDatabase, { coordinator }: Whizbang): Promise<void> {
  const { instanceId } = coordinator.instance;
  for (const table of ['wh_active_streams', 'wh_inbox']) {
    await db.pool.query(`update ${table} set lease_expiry = clock_timestamp() where instance_id = $1`, [
      instanceId,
    ]);
  }
}

export async function deadLetters(
  db: TestDatabase,
): Promise<{ event_type: string; error: string; attempts: number }[]> {
  const { rows } = await db.pool.query(
    'select event_type, error, attempts from wh_dead_letters order by dead_letter_id',
  );
  return rows as { event_type: string; error: string; attempts: number }[];
}
