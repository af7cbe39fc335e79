// What operators ask for, beside a million messages in 100 000 streams and eight instances: explain, where the
// instances have room and where they have none, and what the page asks for. The goal is 100 ms of the database
// in two seconds, so each has to stay below that.

import { explainMessage } from '../../src/coordinator/index.js';
import { readLoad, readOverview } from '../../src/dashboard/reads/overview.js';
import { describeCost, timed } from '../measure/call-costs.js';
import { formatCount } from '../measure/interleave.js';
import { median, spread } from '../measure/statistics.js';
import { messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';
import { BenchQueue } from '../queue.js';
import { BenchInstance } from '../work-batch.js';

const schema = 'whizbang';
const instanceCount = 8;

export const operating: Question = {
  name: 'operating',
  asks: 'what operators ask for, beside a million messages in 100 000 streams',
  async run(context) {
    const queue = await BenchQueue.open(context.server);
    try {
      return await askAll(context, queue);
    } finally {
      await queue.close();
    }
  },
};

async function askAll(context: BenchContext, queue: BenchQueue): Promise<Finding[]> {
  const messages = context.size(1_000_000, 3_000);
  context.progress(`filling ${formatCount(messages)}`);
  await queue.fill(messages, 'function', messageSource(context.size(100_000, 300)));
  await queue.admitAll();
  await queue.settle();
  const { client } = queue;
  const instances = Array.from({ length: instanceCount }, () => new BenchInstance(client));
  const call = async (take: number) => {
    for (const each of instances) await each.call({ take });
  };
  const { rows } = await client.query(
    'select message_id::text as id from wh_outbox where instance_id is null order by sequence_order desc limit 1',
  );
  const explain = async (code: string) => {
    const reasons = await explainMessage(client, schema, rows[0].id);
    if (!reasons.some((reason) => reason.code === code)) throw new Error(`explain does not say ${code}`);
  };
  return [
    await cost(
      context,
      'explain, eight instances without room',
      () => call(0),
      () => explain('no-room'),
    ),
    await cost(
      context,
      'the overview of the page',
      () => call(0),
      () => readOverview(client, schema),
    ),
    await cost(
      context,
      'the heat map of the page',
      () => call(0),
      () => readLoad(client, schema),
    ),
  ];
}

async function cost(
  context: BenchContext,
  setting: string,
  prepare: () => Promise<void>,
  ask: () => Promise<unknown>,
): Promise<Finding> {
  context.progress(setting);
  const costs: number[] = [];
  for (let round = 0; round < context.size(20, 2); round++) {
    await prepare(); // heartbeats: instances that are stale are not asked about
    const [, milliseconds] = await timed(ask);
    costs.push(milliseconds);
  }
  return {
    setting,
    value: median(costs),
    unit: 'ms',
    spread: spread(costs),
    bar: { kind: 'at-most', value: 100 },
    info: describeCost(costs),
  };
}
