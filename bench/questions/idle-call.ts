// What the call of an idle instance costs: its time inside the database and as a round trip, and what it
// writes, which should be the heartbeat and nothing else.

import type pg from 'pg';
import { describeCost, timed } from '../measure/call-costs.js';
import { formatCount } from '../measure/interleave.js';
import { rowWrites, writesBetween } from '../measure/row-writes.js';
import { median, spread } from '../measure/statistics.js';
import { messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';
import { BenchQueue } from '../queue.js';

export const idleCall: Question = {
  name: 'idle-call',
  asks: 'a call with nothing to do',
  async run(context) {
    const waiting = context.size(100_000, 1_000);
    return [
      await idle(context, 'empty tables', async () => {}),
      await idle(context, `${formatCount(waiting)} messages in a stream that is held`, async (queue) => {
        const nextBatch = messageSource(1);
        await queue.instance.call({ store: nextBatch(1), take: 1 });
        await queue.fill(waiting, 'function', nextBatch);
        await queue.admitAll();
        await queue.settle();
      }),
    ];
  },
};

async function idle(
  context: BenchContext,
  setting: string,
  prepare: (queue: BenchQueue) => Promise<void>,
): Promise<Finding> {
  context.progress(setting);
  const queue = await BenchQueue.open(context.server);
  try {
    await prepare(queue);
    await queue.client.query(`set track_functions = 'all'`);
    for (let i = 0; i < 20; i++) await queue.instance.call({ take: 100 });
    const inDatabase: number[] = [];
    const roundTrips: number[] = [];
    const before = await rowWrites(queue.client);
    const start = performance.now();
    const groups = context.size(20, 2);
    const callsPerGroup = context.size(50, 10);
    for (let group = 0; group < groups; group++) {
      const functionMs = await functionTime(queue.client);
      for (let i = 0; i < callsPerGroup; i++) {
        const [items, milliseconds] = await timed(() => queue.instance.call({ take: 100 }));
        if (items.length > 0) throw new Error('an idle call handed something out');
        roundTrips.push(milliseconds);
      }
      inDatabase.push(((await functionTime(queue.client)) - functionMs) / callsPerGroup);
    }
    const seconds = (performance.now() - start) / 1000;
    const after = await rowWrites(queue.client);
    return {
      setting: `${setting}: time in the database`,
      value: median(inDatabase),
      unit: 'ms',
      spread: spread(inDatabase),
      bar: { kind: 'at-most', value: 1 },
      info: `round trip ${describeCost(roundTrips)}; ${groups * callsPerGroup} calls in ${seconds.toFixed(1)} s wrote ${described(writesBetween(before, after))}`,
    };
  } finally {
    await queue.close();
  }
}

/** Milliseconds spent in process_work_batch so far, measured by the server itself. */
async function functionTime(client: pg.Client): Promise<number> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query<{ total: number }>(
    `select total_time as total from pg_stat_user_functions where funcname = 'process_work_batch'`,
  );
  if (rows[0] === undefined) throw new Error('the server counted no call of process_work_batch');
  return rows[0].total;
}

function described(written: readonly [table: string, rows: number][]): string {
  return written.map(([table, rows]) => `${rows} rows of ${table}`).join(', ') || 'nothing';
}
