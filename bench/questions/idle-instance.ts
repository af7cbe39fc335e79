// What instances cost that have nothing to do: how often they call, how long the database works for a call, and
// whether they wake each other. Statements are counted where they leave; the time is what the server counts for its functions.

import { setTimeout as pause } from 'node:timers/promises';
import { CountingPool } from '../measure/counting-pool.js';
import { RunningService } from '../measure/running-service.js';
import type { BenchContext, Finding, Question } from '../question.js';

const call = 'process_work_batch';

export const idleInstance: Question = {
  name: 'idle-instance',
  asks: 'what instances cost that have nothing to do',
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
    const before = await functionTimes(service);
    const start = performance.now();
    await pause(context.size(20_000, 2_000));
    const seconds = (performance.now() - start) / 1000;
    const counts = pools.map((pool) => pool.take());
    const after = await functionTimes(service);
    const busiest = Math.max(...counts.map(({ statements }) => statements.get(call) ?? 0));
    const wakes = counts.reduce((sum, { notifications }) => sum + notifications, 0);
    const sent = new Map<string, number>();
    for (const { statements } of counts) {
      for (const [name, count] of statements) sent.set(name, (sent.get(name) ?? 0) + count);
    }
    const all = [...sent].map(([name, count]) => `${count} ${name}`).join(', ');
    const who = instances === 1 ? 'one instance' : `${instances} instances`;
    return [
      {
        setting: `${who}: calls a second of the busiest`,
        value: busiest / seconds,
        bar: { kind: 'at-most', value: 1 },
        info: `in ${seconds.toFixed(0)} s altogether ${all}`,
      },
      {
        setting: `${who}: time of a call in the database`,
        value: perCall(call),
        unit: 'ms',
        bar: { kind: 'at-most', value: 1 },
        info: `wh_fall_asleep ${perCall('wh_fall_asleep').toFixed(2)} ms`,
      },
      {
        setting: `${who}: notifications heard`,
        value: wakes,
        bar: { kind: 'at-most', value: 0 },
        info: 'by all of them together',
      },
    ];

    function perCall(name: string): number {
      const [a, b] = [before.get(name), after.get(name)];
      const calls = (b?.calls ?? 0) - (a?.calls ?? 0);
      return calls === 0 ? 0 : ((b?.milliseconds ?? 0) - (a?.milliseconds ?? 0)) / calls;
    }
  } finally {
    await service.close();
    for (const { pool } of pools) await pool.end();
  }
}

type FunctionTimes = ReadonlyMap<string, { calls: number; milliseconds: number }>;

async function functionTimes({ client }: RunningService): Promise<FunctionTimes> {
  const { rows } = await client.query<{ name: string; calls: number; milliseconds: number }>(
    'select funcname as name, calls::int, total_time as milliseconds from pg_stat_user_functions',
  );
  return new Map(rows.map(({ name, ...times }) => [name, times]));
}
