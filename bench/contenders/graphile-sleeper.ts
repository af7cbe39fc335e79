// A sleeping graphile-worker: one worker with its LISTEN, defaults otherwise, woken by a job that a user adds
// in a transaction, as its documentation recommends (graphile_worker.add_job).

import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger, run, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { passageOf, type Sleeper } from '../measure/sleeper.js';
import { type BenchMessage, messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';

const task = 'order';
const silent = new Logger(() => () => {});

export async function openGraphileSleeper(server: BenchServer): Promise<Sleeper> {
  const database = await server.createDatabase();
  const pool = new pg.Pool({ connectionString: database.connectionString });
  pool.on('error', () => {}); // dropping the database at the end ends its connections
  pool.on('connect', (client) => client.on('error', () => {}));
  await runMigrations({ pgPool: pool, logger: silent });
  const client = await database.connect();
  const handlers = new EventEmitter();
  const runner = await run({
    pgPool: pool,
    logger: silent,
    noHandleSignals: true,
    concurrency: 1,
    taskList: {
      [task]: async (payload) => {
        handlers.emit('started', (payload as BenchMessage).message_id, performance.now());
      },
    },
  });
  const nextBatch = messageSource('own');

  const addInTransaction = async (message: BenchMessage) => {
    await client.query('begin');
    await client.query('select graphile_worker.add_job($1, $2::json)', [task, JSON.stringify(message)]);
    const leftAt = performance.now();
    await client.query('commit');
    return leftAt;
  };

  return {
    untilQuiet: async () => {
      do await pause(40 + Math.random() * 50);
      while ((await client.query('select from graphile_worker._private_jobs limit 1')).rowCount !== 0);
    },
    wake: async () => {
      const [message] = nextBatch(1) as [BenchMessage];
      return passageOf(once(handlers, 'started'), message.message_id, () => addInTransaction(message));
    },
    close: async () => {
      await runner.stop();
      await client.end();
      await pool.end();
      await database.drop();
    },
  };
}
