// graphile-worker 0.17 at its best. Without ordering: the settings of its own performance page, a local queue
// of 500, 24 concurrent jobs, completions batched. With a named queue per stream, its way to keep order: no
// local queue, because with one it runs several jobs of a named queue side by side; ten concurrent jobs, the
// fastest setting that was found. It stores while its workers run, so it may use more connections, and more
// of both cores, than any other contender.

import { EventEmitter, once } from 'node:events';
import { Logger, makeWorkerUtils, run, runMigrations, type Task } from 'graphile-worker';
import pg from 'pg';
import { type BenchMessage, messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';
import { type CycleSettings, type Runner, repeatFor } from './contender.js';
import { Effects, writeEffect } from './effects.js';

const task = 'order';
const silent = new Logger(() => () => {});

const nothing: Task = async () => {};
const effectOf: Task = async (payload, helpers) => {
  const { message_id: messageId, stream_id: streamId, event_data } = payload as BenchMessage;
  await writeEffect((...sql) => helpers.query(...sql), {
    messageId,
    streamId,
    number: event_data.number as number,
  });
};

interface GraphileSettings extends CycleSettings {
  readonly namedQueues: boolean;
  /** How many jobs are stored before the cycle waits for them to be done. */
  readonly jobsPerCycle: number;
  /** Whether its task writes the row of effects.ts, at least once, or does nothing. */
  readonly effect?: boolean;
}

export async function openGraphileWorker(server: BenchServer, settings: GraphileSettings): Promise<Runner> {
  const database = await server.createDatabase();
  const pool = new pg.Pool({ connectionString: database.connectionString, max: 25 });
  pool.on('error', () => {}); // dropping the database at the end ends its connections
  pool.on('connect', (client) => client.on('error', () => {}));
  await runMigrations({ pgPool: pool, logger: silent });
  const producer = await makeWorkerUtils({ pgPool: pool, logger: silent });
  const nextBatch = messageSource(settings.streams);
  const effects = settings.effect ? await Effects.open(database) : undefined;

  const progress = new EventEmitter();
  let expected = 0;
  let completed = 0;
  const events = new EventEmitter();
  events.on('job:complete', () => {
    if (++completed === expected) progress.emit('done');
  });

  const runner = await run({
    pgPool: pool,
    taskList: { [task]: settings.effect ? effectOf : nothing },
    noHandleSignals: true,
    events,
    preset: {
      worker: {
        logger: silent,
        ...(settings.namedQueues
          ? { concurrentJobs: 10 }
          : { concurrentJobs: 24, localQueue: { size: 500 } }),
        maxPoolSize: 25,
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });

  const cycle = async () => {
    const before = completed;
    expected = completed + settings.jobsPerCycle;
    const done = once(progress, 'done');
    for (let stored = 0; stored < settings.jobsPerCycle; stored += settings.batchSize) {
      const batch = nextBatch(Math.min(settings.batchSize, settings.jobsPerCycle - stored));
      await producer.addJobs(
        batch.map(({ message_id, stream_id, event_data, metadata }) => ({
          identifier: task,
          payload: { event_data, metadata, ...(settings.effect ? { message_id, stream_id } : {}) },
          ...(settings.namedQueues ? { queueName: stream_id } : {}),
        })),
      );
    }
    await done;
    // The event comes before the batched completion is written: wait until the table is empty as well.
    while ((await pool.query('select from graphile_worker._private_jobs limit 1')).rowCount !== 0) {}
    return completed - before;
  };

  return {
    name: settings.namedQueues ? 'graphile-worker, named queues' : 'graphile-worker',
    slice: (milliseconds) =>
      repeatFor(milliseconds, cycle, async () => {
        await effects?.checkAndRemove(settings.jobsPerCycle, { ordered: false });
      }),
    close: async () => {
      await runner.stop();
      await effects?.close();
      await producer.release();
      await pool.end();
      await database.drop();
    },
  };
}
