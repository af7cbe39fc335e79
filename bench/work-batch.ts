// The one call to the SQL function, encoded and decoded by the coordinator's own code, over one connection.
// In: what to complete, fail, release and store, and how many messages to hand out. Out: the items handed
// out, decoded. Used by every question about whizbang; takes no times. The inbox and perspective lanes keep
// their default capacity, so a call reads every lane as a service's call does.

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { WorkBatchRequest } from '../src/coordinator/request.js';
import { decodeBatch, encodeCall } from '../src/coordinator/wire.js';
import { MessageProcessingStatus, type WorkItem } from '../src/message.js';
import type { BenchMessage } from './messages.js';

interface Failure {
  readonly message_id: string;
  readonly error: string;
  readonly retry_after_seconds: number;
}

interface WorkBatch {
  readonly complete?: readonly string[];
  readonly fail?: readonly Failure[];
  /** Message ids whose leases are released; nothing else changes. */
  readonly release?: readonly string[];
  readonly store?: readonly BenchMessage[];
  readonly take: number;
}

/** An instance of a service: an id and a connection of its own. */
export class BenchInstance {
  readonly id = randomUUID();
  readonly #client: pg.Client;

  readonly #flags: number;

  constructor(client: pg.Client, historyPercent = 0) {
    this.#client = client;
    this.#flags = historyPercent << 16;
  }

  async call(batch: WorkBatch): Promise<readonly WorkItem[]> {
    const status = MessageProcessingStatus.Published;
    // Messages and failures already have the keys of the database and are passed unchanged.
    const request = {
      outboxCompletions: [
        ...(batch.complete ?? []).map((messageId) => ({ messageId, status })),
        ...(batch.release ?? []).map((messageId) => ({ messageId, status: 0 })),
      ],
      outboxFailures: (batch.fail ?? []).map((failure) => ({ ...failure, completed_status: 0 })),
      newOutboxMessages: batch.store ?? [],
      maxOutboxItems: batch.take,
      flags: this.#flags,
    } as unknown as WorkBatchRequest;
    const instance = {
      instanceId: this.id,
      serviceName: 'bench',
      hostName: 'localhost',
      processId: process.pid,
    };
    const { text, values } = encodeCall('whizbang', instance, request);
    const { outbox, leaseLost } = decodeBatch((await this.#client.query(text, values)).rows);
    if (leaseLost.length > 0) throw new Error('a lease was lost during a benchmark');
    return outbox;
  }

  /** Stores messages and leaves them to the next instance that asks for work. */
  async store(messages: readonly BenchMessage[]): Promise<void> {
    await this.call({ store: messages, take: 0 });
  }

  async deregister(): Promise<void> {
    await this.#client.query('select deregister_instance($1::uuid)', [this.id]);
  }
}

export function idsOf(items: readonly WorkItem[]): string[] {
  return items.map((item) => item.messageId);
}

/** Stores messages by a plain multi-row insert, as any client in any language would send it. */
export async function insertPlainly(client: pg.Client, messages: readonly BenchMessage[]): Promise<void> {
  await client.query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, metadata, stream_id)
     select message_id, destination, event_type, event_data, metadata, stream_id
     from jsonb_to_recordset(($1::text)::jsonb) as m(
       message_id uuid, destination text, event_type text, event_data jsonb, metadata jsonb, stream_id uuid)`,
    [JSON.stringify(messages)],
  );
}
