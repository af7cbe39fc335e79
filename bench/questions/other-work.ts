// Whether work that cannot run now makes other work more expensive: one very deep stream, held or blocked,
// and very many streams blocked by a retry. It measures a claim of 100 other messages, against the same claim
// without them. It also measures a deep stream itself: a claim of 100 of its messages, against a shallow one.

import { costRatio, describeCost, type Probe, takeTurns } from '../measure/call-costs.js';
import { formatCount } from '../measure/interleave.js';
import { messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';
import { BenchQueue } from '../queue.js';
import { idsOf, insertPlainly } from '../work-batch.js';

const batchSize = 100;

export const otherWork: Question = {
  name: 'other-work',
  asks: 'cost of claiming 100 beside work that cannot run, against without it',
  async run(context) {
    const count = context.size(100_000, 1_000);
    const formatted = formatCount(count);
    return [
      await beside(context, `one stream ${formatted} deep, held`, (queue) => heldStream(queue, count)),
      await beside(context, `one stream ${formatted} deep, blocked by a retry`, (queue) =>
        blockedStream(queue, count),
      ),
      await beside(context, `${formatted} streams blocked by a retry`, (queue) => queue.blockStreams(count)),
      await arrivals(context, count),
      await deepStream(context, count),
    ];
  },
};

async function beside(
  context: BenchContext,
  setting: string,
  burden: (queue: BenchQueue) => Promise<unknown>,
): Promise<Finding> {
  context.progress(setting);
  const burdened = await BenchQueue.open(context.server);
  const free = await BenchQueue.open(context.server);
  try {
    await burden(burdened);
    for (const queue of [burdened, free]) {
      await queue.admitAll();
      await queue.fill(1_000, 'function');
      await queue.admitAll();
      await queue.settle();
    }
    const probes = [burdened, free].map((queue) => () => queue.claimAndRelease(batchSize));
    return await compare(context, setting, probes);
  } finally {
    await burdened.close();
    await free.close();
  }
}

/**
 * Measures as many arrivals as messages handed out, all of them behind a message that waits for a retry. They
 * stay there, and must cost no more than reading them.
 */
async function arrivals(context: BenchContext, count: number): Promise<Finding> {
  const setting = `${formatCount(count)} streams blocked by a retry, 100 arrivals in them before each call`;
  context.progress(setting);
  const burdened = await BenchQueue.open(context.server);
  const free = await BenchQueue.open(context.server);
  try {
    const blocked = await burdened.blockStreams(count);
    for (const queue of [burdened, free]) {
      await queue.fill(1_000, 'function');
      await queue.admitAll();
      await queue.settle();
    }
    const nextArrivals = messageSource(blocked);
    const probes: Probe[] = [
      async () => {
        await insertPlainly(burdened.client, nextArrivals(batchSize));
        return burdened.claimAndRelease(batchSize);
      },
      () => free.claimAndRelease(batchSize),
    ];
    return await compare(context, setting, probes);
  } finally {
    await burdened.close();
    await free.close();
  }
}

async function compare(context: BenchContext, setting: string, probes: readonly Probe[]): Promise<Finding> {
  const [costs = [], reference = []] = await takeTurns(probes, context.size(300, 10), context.size(20, 2));
  return {
    setting,
    ...costRatio(costs, reference),
    bar: { kind: 'at-most', value: 1.3 },
    info: `${describeCost(costs)} against ${describeCost(reference)}`,
  };
}

async function heldStream(queue: BenchQueue, depth: number): Promise<void> {
  const nextBatch = messageSource(1);
  const held = await queue.instance.call({ store: nextBatch(1), take: 1 });
  if (held.length !== 1) throw new Error('the head of the deep stream was not handed out');
  await queue.fill(depth - 1, 'function', nextBatch);
}

async function blockedStream(queue: BenchQueue, depth: number): Promise<void> {
  const nextBatch = messageSource(1);
  await queue.block(idsOf(await queue.instance.call({ store: nextBatch(1), take: 1 })));
  await queue.fill(depth - 1, 'function', nextBatch);
}

async function deepStream(context: BenchContext, depth: number): Promise<Finding> {
  const setting = `100 messages of one stream ${formatCount(depth)} deep, against 500 deep`;
  context.progress(setting);
  const queues = [await BenchQueue.open(context.server), await BenchQueue.open(context.server)];
  try {
    const probes: Probe[] = [];
    for (const [i, queue] of queues.entries()) {
      const nextBatch = messageSource(1);
      await queue.fill(i === 0 ? depth : 500, 'function', nextBatch);
      await queue.admitAll();
      await queue.settle();
      probes.push(() => queue.claimAndReplace(batchSize, 'function', nextBatch));
    }
    return await compare(context, setting, probes);
  } finally {
    for (const queue of queues) await queue.close();
  }
}
