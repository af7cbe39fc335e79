// The time from a commit to the start of the handler, in a sleeping service: one message at a time, with
// pauses. First the user's way is measured, publish in a transaction, in turns with graphile-worker and a job
// that is added in a transaction. The message passes the outbox, the inbox and a receptor with a transaction.
// It is also measured by bare inserts, with other instances asleep beside it, and by polling. Then the same
// under moderate load, with one, two and three instances in turns: messages come at random, many are under
// way at once. The calls and the notifications per message are reported with the times.

import { openGraphileSleeper } from '../contenders/graphile-sleeper.js';
import {
  insertIntoInbox,
  insertIntoOutbox,
  openWhizbangSleeper,
  publishInTransaction,
  type SleeperSettings,
} from '../contenders/whizbang-sleeper.js';
import { formatCount } from '../measure/interleave.js';
import { type Load, messagesPerSecond, moderateLoad } from '../measure/moderate-load.js';
import { type Passage, type Sleeper, wakeInTurns } from '../measure/sleeper.js';
import { quantile } from '../measure/statistics.js';
import type { BenchContext, Finding, Question } from '../question.js';

interface Way extends SleeperSettings {
  readonly setting: string;
}

const publishing: Way = {
  setting: 'publish in a transaction',
  insert: publishInTransaction,
  instances: 1,
  listens: true,
};
const inserting: Way = { ...publishing, setting: 'bare insert into wh_outbox', insert: insertIntoOutbox };

const ways: readonly Way[] = [
  { ...publishing, setting: `${publishing.setting}, three instances`, instances: 3 },
  inserting,
  { ...inserting, setting: `${inserting.setting}, three instances`, instances: 3 },
  { ...inserting, setting: 'bare insert into wh_inbox', insert: insertIntoInbox },
  { ...inserting, setting: `${inserting.setting}, polling alone`, listens: false },
];

/** The bar under load, in milliseconds. Three instances, the writers and PostgreSQL share the processor. */
const barUnderLoad = { instances: 3, value: 40 };

export const latency: Question = {
  name: 'latency',
  asks: 'from commit to the start of the handler, idle service and moderate load',
  async run(context) {
    const findings = await besideGraphileWorker(context);
    for (const way of ways) findings.push(await measure(context, way));
    return [...findings, ...(await underLoad(context))];
  },
};

async function besideGraphileWorker(context: BenchContext): Promise<Finding[]> {
  context.progress(`${publishing.setting}, in turns with graphile-worker`);
  const sleepers: Sleeper[] = [];
  try {
    sleepers.push(await openWhizbangSleeper(context.server, publishing));
    sleepers.push(await openGraphileSleeper(context.server));
    const [ours, theirs] = (await wakeInTurns(sleepers, {
      count: context.size(400, 8),
      warmUp: context.size(20, 1),
    })) as [Passage[], Passage[]];
    const ratio = (fraction: number) => quantile(waits(ours), fraction) / quantile(waits(theirs), fraction);
    return [
      findingOf(publishing, ours),
      {
        setting: `${publishing.setting}: p99, against graphile-worker`,
        value: ratio(0.99),
        bar: { kind: 'at-most', value: 1 },
        info: `graphile-worker, addJob in a transaction: ${describe(waits(theirs))}; p50 against p50 ${ratio(0.5).toFixed(2)}`,
      },
    ];
  } finally {
    for (const sleeper of sleepers) await sleeper.close();
  }
}

async function measure(context: BenchContext, way: Way): Promise<Finding> {
  context.progress(way.setting);
  const sleeper = await openWhizbangSleeper(context.server, way);
  try {
    const [passages = []] = await wakeInTurns([sleeper], {
      count: way.listens ? context.size(400, 8) : context.size(60, 2),
      warmUp: context.size(20, 1),
    });
    return findingOf(way, passages);
  } finally {
    await sleeper.close();
  }
}

function findingOf({ setting, listens }: Way, passages: readonly Passage[]): Finding {
  const fromCommit = passages.map(({ fromCommitMs }) => fromCommitMs);
  return {
    setting: `${setting}: p99`,
    value: quantile(waits(passages), 0.99),
    unit: 'ms',
    ...(listens ? { bar: { kind: 'at-most', value: 20 } } : {}),
    info: `${describe(waits(passages))}; ${formatCount(passages.length)} messages; from when the commit left ${describe(fromCommit)}`,
  };
}

/** Measures slices in turns, so that other activity of the machine affects all of them equally. */
async function underLoad(context: BenchContext): Promise<Finding[]> {
  const loads = new Map([1, 2, 3].map((instances) => [instances, [] as Load[]]));
  for (let round = 0; round < context.size(4, 1); round++) {
    for (const [instances, slices] of loads) {
      context.progress(`under load, ${instances} instances, round ${round + 1}`);
      slices.push(await moderateLoad(context, instances, context.size(5_000, 500)));
    }
  }
  return [...loads].map(([instances, slices]) => {
    const times = slices.flatMap(({ milliseconds }) => milliseconds);
    const perMessage = (count: (load: Load) => number) =>
      (slices.reduce((sum, load) => sum + count(load), 0) / times.length).toFixed(2);
    return {
      setting: `${messagesPerSecond} messages a second, ${instances} ${instances === 1 ? 'instance' : 'instances'}: p99`,
      value: quantile(times, 0.99),
      unit: 'ms' as const,
      ...(instances === barUnderLoad.instances
        ? { bar: { kind: 'at-most' as const, value: barUnderLoad.value } }
        : {}),
      info: `${describe(times)}; ${formatCount(times.length)} messages; for each ${perMessage(({ calls }) => calls)} calls, ${perMessage(({ notifications }) => notifications)} notifications`,
    };
  });
}

function waits(passages: readonly Passage[]): number[] {
  return passages.map(({ fromAnswerMs }) => fromAnswerMs);
}

function describe(milliseconds: readonly number[]): string {
  const at = (fraction: number) => quantile(milliseconds, fraction).toFixed(1);
  return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, max ${at(1)} ms`;
}
