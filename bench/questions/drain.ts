// How fast a backlog is drained: 200 000 waiting messages, each its own stream, claimed and completed in
// batches of 500, in turns with the insert + delete floor. A drain writes no new messages, the floor does.

import { openFloor } from '../contenders/floor.js';
import { formatCount } from '../measure/interleave.js';
import { median, spread } from '../measure/statistics.js';
import type { BenchContext, Finding, Question } from '../question.js';
import { BenchQueue, type Feeding } from '../queue.js';
import { idsOf } from '../work-batch.js';

const batchSize = 500;

export const drain: Question = {
  name: 'drain',
  asks: 'draining a backlog in batches of 500, against insert + delete',
  async run(context) {
    return [await drainBacklog(context, 'function'), await drainBacklog(context, 'plain insert')];
  },
};

async function drainBacklog(context: BenchContext, feeding: Feeding): Promise<Finding> {
  const count = context.size(200_000, 4_000);
  context.progress(`${formatCount(count)} stored by ${feeding}`);
  const queue = await BenchQueue.open(context.server);
  const floor = await openFloor(context.server, { batchSize, streams: 'own' });
  try {
    await queue.fill(count, feeding);
    await floor.slice(context.size(1000, 50));
    const sliceMessages = context.size(10_000, 1_000);
    const ratios: number[] = [];
    const rates: number[] = [];
    let held: string[] = [];
    for (let done = 0; done < count; ) {
      const start = performance.now();
      let drained = 0;
      while (drained < sliceMessages && done + drained < count) {
        const items = await queue.instance.call({ complete: held, take: batchSize });
        if (items.length === 0)
          throw new Error(`${done + drained} of ${count} messages handed out, then none`);
        held = idsOf(items);
        drained += items.length;
      }
      done += drained;
      if (done >= count) await queue.instance.call({ complete: held, take: 0 });
      const elapsedMs = performance.now() - start;
      const slice = await floor.slice(elapsedMs);
      rates.push((drained * 1000) / elapsedMs);
      ratios.push(drained / elapsedMs / (slice.messages / slice.elapsedMs));
    }
    return {
      setting: `${formatCount(count)} messages, own streams, stored by ${feeding}`,
      value: median(ratios),
      spread: spread(ratios),
      info: `${formatCount(median(rates))}/s (first slice ${formatCount(rates[0] ?? 0)}, last ${formatCount(rates.at(-1) ?? 0)})`,
    };
  } finally {
    await queue.close();
    await floor.close();
  }
}
