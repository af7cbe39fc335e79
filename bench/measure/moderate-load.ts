// A service under a load that it can easily handle: messages of their own streams, inserted plainly at random
// moments, several under way at once. In: how many instances, for how long. Out: how long each message waited
// for its handler, and the calls and notifications that it cost.

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { messageSource } from '../messages.js';
import type { BenchContext } from '../question.js';
import { CountingPool } from './counting-pool.js';
import { OrderPlaced, RunningService } from './running-service.js';
import { workCalls } from './work-calls.js';

export interface Load {
  /** Times from the answer to the commit to the start of the handler. */
  readonly milliseconds: readonly number[];
  /** Calls for work, including those that complete messages. */
  readonly calls: number;
  readonly notifications: number;
}

export const messagesPerSecond = 50;
const writers = 4;

export async function moderateLoad(
  { server }: BenchContext,
  instances: number,
  forMs: number,
): Promise<Load> {
  const pools: CountingPool[] = [];
  const insertedAt = new Map<string, number>();
  const startedAt = new Map<string, number>();
  const service = await RunningService.open(server, {
    transactional: true,
    instances,
    options: ({ connectionString }) => {
      const counting = new CountingPool(connectionString);
      pools.push(counting);
      return { pool: counting.pool, connectionString: undefined };
    },
    onHandled: (messageId) => {
      startedAt.set(messageId, performance.now());
    },
  });
  const pool = new pg.Pool({ connectionString: service.database.connectionString, max: writers });
  const nextBatch = messageSource('own');
  const insert = async (): Promise<void> => {
    for (const { message_id, event_data, stream_id } of nextBatch(1)) {
      await pool.query(
        `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id) values ($1, $2, $2, $3, $4)`,
        [message_id, OrderPlaced.type, event_data, stream_id],
      );
      insertedAt.set(message_id, performance.now());
    }
  };
  const allHandled = async () => {
    while (startedAt.size < insertedAt.size) await pause(5);
  };
  try {
    for (let i = 0; i < writers * 4; i++) await insert(); // connections, plans
    await allHandled();
    insertedAt.clear();
    startedAt.clear();
    for (const counting of pools) counting.take();
    const inserts: Promise<void>[] = [];
    const end = performance.now() + forMs;
    for (let next = performance.now(); next < end; next += randomGap()) {
      await pause(Math.max(next - performance.now(), 0));
      inserts.push(insert());
    }
    await Promise.all(inserts);
    await allHandled();
    const counts = pools.map((counting) => counting.take());
    const calls = counts.reduce((sum, count) => sum + workCalls(count), 0);
    if (calls === 0) throw new Error('messages were handled, but no call was counted');
    // Every instance receives each of them.
    const notifications = Math.max(...counts.map((count) => count.notifications));
    const milliseconds = [...insertedAt].map(([id, at]) => {
      const started = startedAt.get(id);
      if (started === undefined) throw new Error(`message ${id} was not handled`);
      return Math.max(started - at, 0);
    });
    return { milliseconds, calls, notifications };
  } finally {
    await pool.end();
    await service.close();
    for (const counting of pools) await counting.pool.end();
  }
}

/** Random gaps, as between messages of independent senders. */
const randomGap = () => (-Math.log(1 - Math.random()) * 1000) / messagesPerSecond;
