// The one call to the SQL function, made as the coordinator makes it: an unnamed statement that names
// only the parameters it sends, JSON travelling as text both ways. In: what to complete, fail, give back
// and store, and how much to hand out. Out: the items handed out, decoded. Used by every question about
// whizbang; knows nothing of timing. The inbox and perspective lanes keep their default capacity, so a
// call looks at every lane as a service's call does.

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { BenchMessage } from './messages.js';

export interface WorkItem {
  readonly messageId: string;
  readonly eventData: unknown;
  readonly metadata: unknown;
}

export interface Failure {
  readonly message_id: string;
  readonly error: string;
  readonly retry_after_seconds: number;
}

export interface WorkBatch {
  readonly complete?: readonly string[];
  readonly fail?: readonly Failure[];
  /** Gives leases back: nothing else changes. */
  readonly release?: readonly string[];
  readonly store?: readonly BenchMessage[];
  readonly take: number;
}

const leaseLost = 64;
const published = 4;

const selectItems = `
  select source, message_id::text, stream_id::text, partition_number::text, destination, event_type,
         event_data::text, metadata::text, scope::text, status::text, flags::text, attempts::text,
         sequence_order::text, trunc(extract(epoch from lease_expiry) * 1000)::text as lease_expiry`;

type Row = Record<'message_id' | 'flags' | 'event_data' | 'metadata', string>;

/** An instance of a service: an id and a connection of its own. */
export class BenchInstance {
  readonly id = randomUUID();
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  async call(batch: WorkBatch): Promise<WorkItem[]> {
    const values: (string | number)[] = [this.id, process.pid, batch.take];
    const parameters = [
      'p_instance_id => $1::uuid',
      "p_service_name => 'bench'",
      "p_host_name => 'localhost'",
      'p_process_id => $2::int',
      'p_max_outbox_items => $3::int',
    ];
    const send = (name: string, items: readonly unknown[]) => {
      if (items.length === 0) return;
      values.push(JSON.stringify(items));
      parameters.push(`${name} => $${values.length}::text::jsonb`);
    };
    send('p_outbox_completions', [
      ...(batch.complete ?? []).map((id) => ({ message_id: id, status: published })),
      ...(batch.release ?? []).map((id) => ({ message_id: id, status: 0 })),
    ]);
    send(
      'p_outbox_failures',
      (batch.fail ?? []).map((failure) => ({ ...failure, completed_status: 0 })),
    );
    send('p_new_outbox_messages', batch.store ?? []);
    const { rows } = await this.#client.query<Row>(
      `${selectItems} from process_work_batch(${parameters.join(', ')})`,
      values,
    );
    return rows.map(decode);
  }

  /** Stores and leaves to whoever asks next. */
  async store(messages: readonly BenchMessage[]): Promise<void> {
    await this.call({ store: messages, take: 0 });
  }

  async deregister(): Promise<void> {
    await this.#client.query('select deregister_instance($1::uuid)', [this.id]);
  }
}

function decode(row: Row): WorkItem {
  if ((Number(row.flags) & leaseLost) !== 0) {
    throw new Error(`the lease of message ${row.message_id} was lost during a benchmark`);
  }
  return {
    messageId: row.message_id,
    eventData: JSON.parse(row.event_data),
    metadata: JSON.parse(row.metadata),
  };
}

export function idsOf(items: readonly WorkItem[]): string[] {
  return items.map((item) => item.messageId);
}

/** A plain multi-row insert, as any client in any language would send it. */
export async function insertPlainly(client: pg.Client, messages: readonly BenchMessage[]): Promise<void> {
  await client.query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, metadata, stream_id)
     select message_id, destination, event_type, event_data, metadata, stream_id
     from jsonb_to_recordset(($1::text)::jsonb) as m(
       message_id uuid, destination text, event_type text, event_data jsonb, metadata jsonb, stream_id uuid)`,
    [JSON.stringify(messages)],
  );
}
