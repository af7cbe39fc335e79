// Whether an open transaction elsewhere makes calls more expensive. A backup or a report prevents the removal
// of dead rows, and queues make dead rows faster than anything else. Two minutes of full load with a snapshot
// held open; the cost of a call at the end, against the cost at the start.

import { timed } from '../measure/call-costs.js';
import { formatCount } from '../measure/interleave.js';
import { median, quantile } from '../measure/statistics.js';
import { messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';
import { BenchQueue, type Feeding } from '../queue.js';
import { idsOf, insertPlainly } from '../work-batch.js';

const batchSize = 100;

export const oldSnapshot: Question = {
  name: 'old-snapshot',
  asks: 'cost of a call after two minutes of full load beside an old snapshot, against the start',
  async run(context) {
    const findings: Finding[] = [];
    for (const feeding of ['function', 'plain insert'] as const) {
      for (const streams of [100, 'own'] as const) findings.push(await underLoad(context, streams, feeding));
    }
    return findings;
  },
};

async function underLoad(context: BenchContext, streams: number | 'own', feeding: Feeding): Promise<Finding> {
  const setting = `${streams === 'own' ? 'own streams' : `${streams} streams`}, fed by ${feeding}`;
  context.progress(setting);
  const queue = await BenchQueue.open(context.server);
  const bystander = await queue.database.connect();
  const nextBatch = messageSource(streams);
  let held: string[] = [];

  /** Milliseconds of one call, without the plain insert that feeds it. */
  const callOnce = async (): Promise<number> => {
    const batch = nextBatch(batchSize);
    if (feeding === 'plain insert') await insertPlainly(queue.client, batch);
    const work = { complete: held, take: batchSize, ...(feeding === 'function' ? { store: batch } : {}) };
    const [items, milliseconds] = await timed(() => queue.instance.call(work));
    if (items.length === 0) throw new Error('a call under load handed nothing out');
    held = idsOf(items);
    return milliseconds;
  };
  const callsFor = async (milliseconds: number): Promise<number[]> => {
    const costs: number[] = [];
    const start = performance.now();
    do costs.push(await callOnce());
    while (performance.now() - start < milliseconds);
    return costs;
  };

  try {
    await callsFor(context.size(3_000, 100));
    await bystander.query('begin isolation level repeatable read');
    await bystander.query('select count(*) from wh_outbox');
    const edgeMs = context.size(5_000, 200);
    const atStart = await callsFor(edgeMs);
    const between = await callsFor(context.size(110_000, 600));
    const atEnd = await callsFor(edgeMs);
    const windows = [0.1, 0.9].map((q) => quantile(atEnd, q) / median(atStart));
    return {
      setting,
      value: median(atEnd) / median(atStart),
      spread: [windows[0] ?? 0, windows[1] ?? 0],
      bar: { kind: 'at-most', value: 1.5 },
      info: `${median(atStart).toFixed(2)} ms, in the middle ${median(between).toFixed(2)}, at the end ${median(atEnd).toFixed(2)} after ${formatCount(atStart.length + between.length + atEnd.length)} calls`,
    };
  } finally {
    await bystander.end();
    await queue.close();
  }
}
