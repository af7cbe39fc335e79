// A hand-written queue, as in applications without a library: a table, and eight connections that each begin,
// take the first free jobs with SKIP LOCKED, write the effect of each, delete the jobs and commit. Exactly
// once, and no order. To its advantage no worker polls: one that found nothing is notified in this process
// when there is more. Its table is vacuumed between slices.

import { EventEmitter, once } from 'node:events';
import type pg from 'pg';
import { type BenchMessage, messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';
import { type CycleSettings, type Runner, repeatFor } from './contender.js';
import { Effects, writeEffect } from './effects.js';

const workers = 8;

const table =
  'create table jobs (id bigint generated always as identity primary key, payload jsonb not null)';
const insertJobs = 'insert into jobs (payload) select value from jsonb_array_elements(($1::text)::jsonb)';
const takeJobs = 'select id, payload from jobs order by id for update skip locked limit $1';
const deleteJobs = 'delete from jobs where id = any($1)';

interface SkipLockedSettings extends CycleSettings {
  readonly jobsPerTransaction: number;
  readonly jobsPerCycle: number;
}

export async function openSkipLocked(server: BenchServer, settings: SkipLockedSettings): Promise<Runner> {
  const { batchSize, streams, jobsPerTransaction, jobsPerCycle } = settings;
  const database = await server.createDatabase();
  const effects = await Effects.open(database);
  const producer = await database.connect();
  await producer.query(table);
  const clients: pg.Client[] = [];
  for (let i = 0; i < workers; i++) clients.push(await database.connect());
  const nextBatch = messageSource(streams);
  const news = new EventEmitter().setMaxListeners(workers);
  let stored = 0;
  let done = 0;

  const store = async (goal: number) => {
    while (stored < goal) {
      const batch = nextBatch(Math.min(batchSize, goal - stored));
      await producer.query(insertJobs, [JSON.stringify(batch)]);
      stored += batch.length;
      news.emit('more');
    }
  };
  const work = async (client: pg.Client, goal: number) => {
    while (done < goal) {
      const seen = stored;
      const handled = await handleSome(client, jobsPerTransaction);
      done += handled;
      if (done >= goal) news.emit('more');
      else if (handled === 0 && seen === stored) await once(news, 'more');
    }
  };
  const cycle = async () => {
    const goal = stored + jobsPerCycle;
    await Promise.all([store(goal), ...clients.map((client) => work(client, goal))]);
    return jobsPerCycle;
  };

  return {
    name: `skip locked by hand, ${jobsPerTransaction} at a time`,
    slice: async (milliseconds) => {
      const check = () => effects.checkAndRemove(jobsPerCycle, { ordered: false });
      const slice = await repeatFor(milliseconds, cycle, check);
      await producer.query('vacuum analyze jobs');
      return slice;
    },
    close: async () => {
      await effects.close();
      for (const client of [producer, ...clients]) await client.end();
      await database.drop();
    },
  };
}

async function handleSome(client: pg.Client, most: number): Promise<number> {
  await client.query('begin');
  const { rows } = await client.query<{ id: string; payload: BenchMessage }>(takeJobs, [most]);
  for (const { payload } of rows) {
    const { message_id: messageId, stream_id: streamId, event_data } = payload;
    const effect = { messageId, streamId, number: event_data.number as number };
    await writeEffect((...sql) => client.query(...sql), effect);
  }
  if (rows.length > 0) await client.query(deleteJobs, [rows.map(({ id }) => id)]);
  await client.query('commit');
  return rows.length;
}
