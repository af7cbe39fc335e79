import { type ConnectionPool, quoteSchema, withPooledClient } from '../database/index.js';
import type { MessageId } from '../message.js';

/** A failed attempt: the message is retried, or has become a dead letter. */
export interface Failure {
  readonly source: 'outbox' | 'inbox';
  readonly messageId: MessageId;
  /** The receptor that failed. Absent where none is known. */
  readonly receptor?: string | undefined;
  readonly attempt: number;
  readonly error: unknown;
  /** Whether the message became a dead letter after it. */
  readonly isFinal: boolean;
}

/** A dead letter, as stored in wh_dead_letters. */
export interface DeadLetter {
  readonly source: 'outbox' | 'inbox';
  readonly messageId: MessageId;
  readonly type: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly error: string;
}

export async function deadLettersIn(pool: ConnectionPool, schema: string): Promise<readonly DeadLetter[]> {
  const text = `
    select source, message_id as "messageId", event_type as type, event_data as payload, attempts, error
    from ${quoteSchema(schema)}.wh_dead_letters
    order by dead_letter_id`;
  const { rows } = await withPooledClient(pool, (client) => client.query(text));
  return rows as DeadLetter[];
}
