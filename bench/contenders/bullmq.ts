// BullMQ 6 on its PostgreSQL backend: addBulk on one side, a worker with concurrency on the other,
// finished jobs removed. Its concurrent jobs keep no order. It completes one job per statement (fused
// with fetching the next one), so it gains from concurrency: commits of several connections share a flush.

import { EventEmitter, once } from 'node:events';
import { createPostgresBackend, runMigrations, withBackend } from 'bullmq';
import { messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';
import { type CycleSettings, type Runner, repeatFor } from './contender.js';

const { Queue, Worker } = withBackend(createPostgresBackend);
const queueName = 'orders';

interface BullSettings extends CycleSettings {
  readonly concurrency: number;
  /** How many jobs are stored before the cycle waits for them to be done. */
  readonly jobsPerCycle: number;
}

export async function openBullMq(server: BenchServer, settings: BullSettings): Promise<Runner> {
  const database = await server.createDatabase();
  const migrator = await database.connect();
  await runMigrations(migrator);
  await migrator.end();

  const connection = { connectionString: database.connectionString, max: settings.concurrency };
  const queue = new Queue(queueName, { connection, defaultJobOptions: { removeOnComplete: true } });
  const progress = new EventEmitter();
  let expected = 0;
  let completed = 0;
  const worker = new Worker(queueName, async () => null, {
    connection,
    concurrency: settings.concurrency,
    removeOnComplete: { count: 0 },
  });
  queue.on('error', () => {}); // dropping the database at the end ends its connections
  worker.on('error', () => {});
  worker.on('completed', () => {
    if (++completed === expected) progress.emit('done');
  });
  await worker.waitUntilReady();
  const nextBatch = messageSource(settings.streams);

  const cycle = async () => {
    const before = completed;
    expected = completed + settings.jobsPerCycle;
    const done = once(progress, 'done');
    for (let stored = 0; stored < settings.jobsPerCycle; stored += settings.batchSize) {
      const batch = nextBatch(Math.min(settings.batchSize, settings.jobsPerCycle - stored));
      await queue.addBulk(
        batch.map(({ event_type, event_data, metadata }) => ({
          name: event_type,
          data: { event_data, metadata },
        })),
      );
    }
    await done;
    return completed - before;
  };

  return {
    name: 'BullMQ 6 on PostgreSQL',
    slice: (milliseconds) => repeatFor(milliseconds, cycle),
    close: async () => {
      await worker.close();
      await queue.close();
      await database.drop();
    },
  };
}
