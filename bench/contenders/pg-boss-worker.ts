// pg-boss 10 with its own workers: insert on one side, work() on the other, a handler per batch of 500 jobs that succeed or
// fail together, no ordering. To its advantage a worker is notified at the end of each batch, so that it never waits for
// its poll while there are jobs; priorities and maintenance are off; its table is vacuumed between slices.

import { EventEmitter, once } from 'node:events';
import PgBoss from 'pg-boss';
import { messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';
import { type CycleSettings, type Runner, repeatFor } from './contender.js';

const queue = 'orders';
const jobsPerFetch = 500;

interface PgBossWorkerSettings extends CycleSettings {
  readonly jobsPerCycle: number;
}

export async function openPgBossWorker(server: BenchServer, settings: PgBossWorkerSettings): Promise<Runner> {
  const database = await server.createDatabase();
  const { connectionString } = database;
  const boss = new PgBoss({ connectionString, max: 10, supervise: false, schedule: false });
  boss.on('error', () => {}); // dropping the database at the end ends its connections
  await boss.start();
  await boss.createQueue(queue);
  const keeper = await database.connect();
  const nextBatch = messageSource(settings.streams);

  const progress = new EventEmitter();
  let expected = 0;
  let handled = 0;
  const options = { batchSize: jobsPerFetch, pollingIntervalSeconds: 0.5, priority: false };
  const workerId = await boss.work(queue, options, async (jobs) => {
    handled += jobs.length;
    boss.notifyWorker(workerId);
    if (handled >= expected) progress.emit('done');
  });

  const cycle = async () => {
    const before = handled;
    expected = handled + settings.jobsPerCycle;
    const done = once(progress, 'done');
    for (let stored = 0; stored < settings.jobsPerCycle; stored += settings.batchSize) {
      const batch = nextBatch(Math.min(settings.batchSize, settings.jobsPerCycle - stored));
      await boss.insert(
        batch.map(({ message_id, event_data, metadata }) => ({
          id: message_id,
          name: queue,
          data: { event_data, metadata },
        })),
      );
      boss.notifyWorker(workerId);
    }
    await done;
    // The handler ends before its jobs are completed.
    const left = `select from pgboss.job where state < 'completed' limit 1`;
    while ((await keeper.query(left)).rowCount !== 0) {}
    return handled - before;
  };

  return {
    name: 'pg-boss 10, work()',
    slice: async (milliseconds) => {
      const slice = await repeatFor(milliseconds, cycle);
      await keeper.query('vacuum analyze pgboss.job');
      return slice;
    },
    close: async () => {
      await keeper.end();
      await boss.stop({ graceful: false, wait: true });
      await database.drop();
    },
  };
}
