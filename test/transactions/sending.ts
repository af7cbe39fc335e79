import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { WhizbangError } from '../../src/errors.js';
import { newMessageId } from '../../src/message-id.js';
import { asQueryable } from '../../src/transactions/index.js';

export interface OutboxRow {
  message_id: string;
  event_data: unknown;
}

interface Sent extends OutboxRow {
  stream_id: string;
}

export function message(more: Partial<Sent> = {}): Sent {
  return { message_id: newMessageId(), stream_id: randomUUID(), event_data: { n: 1 }, ...more };
}

/** The plain insert that sends, as one statement with one parameter. */
export async function send(tx: unknown, ...messages: Sent[]): Promise<void> {
  await asQueryable(tx).query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id)
     select m.message_id, 'billing', 'OrderPlaced', m.event_data, m.stream_id
     from jsonb_to_recordset($1::text::jsonb) as m (message_id uuid, event_data jsonb, stream_id uuid)`,
    [JSON.stringify(messages)],
  );
}

/** Everything that some library, or JSON within SQL, gives a meaning to. */
export const trouble = {
  text: `'' " \\ \\\\ \\n ? ?? \\? $1 $$1 $2::text :name ::x %s \${x} 🚀 \u2028 -- /* */ E'\\'' {} []`,
  "key ' $1 ? :k": [null, true, -0.5, 'é'],
};

export function refusalOf(tx: unknown): WhizbangError {
  try {
    asQueryable(tx);
  } catch (error) {
    if (error instanceof WhizbangError) return error;
    throw error;
  }
  throw new Error(`${inspect(tx)} was not refused`);
}
