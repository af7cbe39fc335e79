// Whether the cost of a call depends on the statistics. Queue tables change between empty and huge, and
// autovacuum may be hours behind. Autovacuum is off here; the same backlog is claimed with statistics that
// are right, that are missing after a truncate, and that were taken from an empty or a fuller table. The
// tables hold the same rows in every state: only the statistics of the planner differ.

import { costRatio, describeCost, takeTurns } from '../measure/call-costs.js';
import { formatCount } from '../measure/interleave.js';
import { messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';
import { BenchQueue } from '../queue.js';

const batchSize = 100;

interface State {
  readonly title: string;
  reach(queue: BenchQueue, count: number): Promise<void>;
}

const rightStatistics: State = {
  title: 'analyzed',
  reach: async (queue, count) => {
    await fillAdmitted(queue, count);
    await queue.client.query('vacuum analyze wh_outbox, wh_active_streams');
  },
};

const states: readonly State[] = [
  {
    title: 'after truncate, not analyzed',
    reach: async (queue, count) => {
      await rightStatistics.reach(queue, count);
      await queue.client.query('truncate wh_outbox, wh_active_streams');
      await fillAdmitted(queue, count);
    },
  },
  {
    title: 'statistics of an empty table',
    reach: async (queue, count) => {
      await fillAdmitted(queue, batchSize);
      await queue.client.query('delete from wh_outbox');
      await queue.client.query('delete from wh_active_streams');
      await queue.client.query('vacuum analyze wh_outbox, wh_active_streams');
      await fillAdmitted(queue, count);
    },
  },
  {
    title: 'statistics of a table five times as full',
    reach: async (queue, count) => {
      for (let fifth = 0; fifth < 5; fifth++) await rightStatistics.reach(queue, count);
      await queue.client.query('truncate wh_outbox, wh_active_streams');
      await fillAdmitted(queue, count);
    },
  },
];

async function fillAdmitted(queue: BenchQueue, count: number): Promise<void> {
  await queue.fill(count, 'function');
  await queue.admitAll();
}

export const planStability: Question = {
  name: 'plan-stability',
  asks: 'cost of claiming 100 with missing or stale statistics, against current ones',
  async run(context) {
    return [...(await compareStates(context, false)), ...(await compareStates(context, true))];
  },
};

async function compareStates(context: BenchContext, admitted: boolean): Promise<Finding[]> {
  const count = context.size(20_000, 1_000);
  const kind = admitted ? 'admitted' : 'admitted, as many not yet';
  const queues: BenchQueue[] = [];
  try {
    for (const state of [rightStatistics, ...states]) {
      context.progress(`${kind}: ${state.title}`);
      const queue = await BenchQueue.open(context.server);
      queues.push(queue);
      await withoutAutovacuum(queue);
      await state.reach(queue, count);
      if (!admitted) await queue.fill(count, 'function');
    }
    const nextBatch = messageSource('own');
    const [reference = [], ...costs] = await takeTurns(
      queues.map(
        (queue) => () =>
          admitted
            ? queue.claimAndRelease(batchSize)
            : queue.claimAndReplace(batchSize, 'function', nextBatch),
      ),
      context.size(100, 10),
      context.size(10, 2),
    );
    return states.map((state, i): Finding => {
      const own = costs[i] ?? [];
      return {
        setting: `${formatCount(count)} ${kind}: ${state.title}`,
        ...costRatio(own, reference),
        bar: { kind: 'at-most', value: 1.3, own: true },
        info: `${describeCost(own)} against ${describeCost(reference)} analyzed`,
      };
    });
  } finally {
    for (const queue of queues) await queue.close();
  }
}

async function withoutAutovacuum({ client }: BenchQueue): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relname like 'wh\\_%' and relnamespace = 'whizbang'::regnamespace`,
  );
  for (const { name } of rows) await client.query(`alter table ${name} set (autovacuum_enabled = false)`);
}
