// A sleeping whizbang service, and the ways by which a message reaches it: publish in a user's transaction,
// or a bare insert into one of its tables. Asleep means that all is done and a session holds the sleeper's
// lock.

import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { OrderPlaced, orderOf, RunningService } from '../measure/running-service.js';
import { passageOf, type Sleeper } from '../measure/sleeper.js';
import { type BenchMessage, messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';

/**
 * Commits one message. Resolves when the answer to the commit has arrived, with the time at which the commit
 * was sent.
 */
export type Insert = (service: RunningService, message: BenchMessage) => Promise<number>;

const pollIntervalMs = 1_000;

export interface SleeperSettings {
  readonly insert: Insert;
  readonly instances: number;
  /** False: only polling finds the message. */
  readonly listens: boolean;
}

export async function openWhizbangSleeper(
  server: BenchServer,
  { insert, instances, listens }: SleeperSettings,
): Promise<Sleeper> {
  const handlers = new EventEmitter();
  const service = await RunningService.open(server, {
    transactional: true,
    instances,
    options: () => ({ listen: listens, pollIntervalMs }),
    onHandled: (messageId) => {
      handlers.emit('started', messageId, performance.now());
    },
  });
  const nextBatch = messageSource('own');
  return {
    untilQuiet: () => untilQuiet(service, listens),
    wake: async () => {
      const [message] = nextBatch(1) as [BenchMessage];
      return passageOf(once(handlers, 'started'), message.message_id, () => insert(service, message));
    },
    close: () => service.close(),
  };
}

export async function publishInTransaction({ first, client }: RunningService, message: BenchMessage) {
  await client.query('begin');
  await first.publish(orderOf(message), { tx: client, messageId: message.message_id });
  const leftAt = performance.now();
  await client.query('commit');
  return leftAt;
}

export async function insertIntoOutbox({ client }: RunningService, message: BenchMessage) {
  const { message_id, event_data, stream_id } = message;
  const leftAt = performance.now();
  await client.query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id) values ($1, $2, $2, $3, $4)`,
    [message_id, OrderPlaced.type, event_data, stream_id],
  );
  return leftAt;
}

export async function insertIntoInbox({ client }: RunningService, message: BenchMessage) {
  const { message_id, event_data, stream_id } = message;
  const leftAt = performance.now();
  await client.query(
    `insert into wh_inbox (message_id, handler_name, event_type, event_data, stream_id) values ($1, $2, $2, $3, $4)`,
    [message_id, OrderPlaced.type, event_data, stream_id],
  );
  return leftAt;
}

/**
 * Waits until the service sleeps, with pauses of random length: where only polling finds the message, the
 * inserts must not be in step with the polls.
 */
async function untilQuiet({ client }: RunningService, listens: boolean): Promise<void> {
  for (;;) {
    await pause(40 + Math.random() * (listens ? 50 : pollIntervalMs));
    // Who sleeps is asked in the schema in which it sleeps.
    await client.query('begin; set local search_path = whizbang');
    const { rows } = await client.query<{ left: boolean; sleeps: boolean }>(
      `select exists (select from wh_outbox) or exists (select from wh_inbox) as left, wh_watch_session() is not null as sleeps`,
    );
    await client.query('commit');
    const [now] = rows;
    if (now?.left === false && (now.sleeps || !listens)) return;
  }
}
