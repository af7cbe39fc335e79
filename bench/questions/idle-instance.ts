// What idle instances cost: how often they call, how long the database works for a call, and whether they
// wake each other. Statements are counted where they are sent; the time is what the server counts for its
// functions. It throws when it has seen no call: an instance that never calls would look like one that costs
// nothing.

import { setTimeout as pause } from 'node:timers/promises';
import { CountingPool } from '../measure/counting-pool.js';
import { RunningService } from '../measure/running-service.js';
import {
  calledFunction,
  type FunctionTimes,
  functionTimes,
  msPerCall,
  workCalls,
} from '../measure/work-calls.js';
import type { BenchContext, Finding, Question } from '../question.js';

/** How long to wait for the statistics. A backend may delay its counts by ten seconds. */
const mostStatisticsDelayMs = 15_000;

export const idleInstance: Question = {
  name: 'idle-instance',
  asks: 'the cost of instances with nothing to do',
  async run(context) {
    return [...(await idle(context, 1)), ...(await idle(context, 8))];
  },
};

async function idle(context: BenchContext, instances: number): Promise<Finding[]> {
  context.progress(`${instances} idle`);
  const pools: CountingPool[] = [];
  const service = await RunningService.open(context.server, {
    transactional: true,
    instances,
    options: ({ connectionString }) => {
      const counting = new CountingPool(connectionString);
      pools.push(counting);
      return { pool: counting.pool, connectionString: undefined };
    },
    onHandled: () => {},
  });
  try {
    await pause(context.size(3_000, 1_000)); // until all have fallen asleep
    for (const pool of pools) pool.take();
    const before = await functionTimes(service.client);
    const start = performance.now();
    await pause(context.size(20_000, 2_000));
    const seconds = (performance.now() - start) / 1000;
    const counts = pools.map((pool) => pool.take());
    const call = calledFunction(counts);
    const { after, callMs } = await timesWith(service, before, call);
    const busiest = Math.max(...counts.map(workCalls));
    const wakes = counts.reduce((sum, { notifications }) => sum + notifications, 0);
    const sent = new Map<string, number>();
    for (const { statements } of counts) {
      for (const [name, count] of statements) sent.set(name, (sent.get(name) ?? 0) + count);
    }
    const all = [...sent].map(([name, count]) => `${count} ${name}`).join(', ');
    const who = instances === 1 ? 'one instance' : `${instances} instances`;
    return [
      {
        setting: `${who}: calls a second of the busiest instance`,
        value: busiest / seconds,
        bar: { kind: 'at-most', value: 1 },
        info: `in ${seconds.toFixed(0)} s, all together ${all}`,
      },
      {
        setting: `${who}: time of a call in the database`,
        value: callMs,
        unit: 'ms',
        bar: { kind: 'at-most', value: 1 },
        info: `of ${call}; wh_fall_asleep ${msPerCall(before, after, 'wh_fall_asleep')?.toFixed(2) ?? '-'} ms`,
      },
      {
        setting: `${who}: notifications received`,
        value: wakes,
        bar: { kind: 'at-most', value: 0 },
        info: 'by all of them together',
      },
    ];
  } finally {
    await service.close();
    for (const { pool } of pools) await pool.end();
  }
}

/** The server's counts, once they include a call of this function. */
async function timesWith(
  { client }: RunningService,
  before: FunctionTimes,
  name: string,
): Promise<{ after: FunctionTimes; callMs: number }> {
  const end = performance.now() + mostStatisticsDelayMs;
  do {
    const after = await functionTimes(client);
    const callMs = msPerCall(before, after, name);
    if (callMs !== undefined) return { after, callMs };
    await pause(100);
  } while (performance.now() < end);
  throw new Error(`the server counted no call of ${name}: is track_functions on?`);
}
