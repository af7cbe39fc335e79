// What a perspective costs on top of a bare loop that reads events and writes models; how much faster it is built again
// stream by stream; how many rows it writes for an event; and how soon, and at what cost, an event is in its model.

import { ModelReads } from '../contenders/model-reads.js';
import { BareLoop, type ModelMaker, PerspectiveMaker } from '../contenders/perspectives.js';
import { costRatio, describeCost, type Probe, takeTurns } from '../measure/call-costs.js';
import { formatCount } from '../measure/interleave.js';
import { median, quantile } from '../measure/statistics.js';
import type { BenchContext, Finding, Question } from '../question.js';

export const perspectives: Question = {
  name: 'perspectives',
  asks: 'models of events, against a bare loop: as they come, and built again',
  async run(context) {
    return [
      ...(await asTheyCome(context, 100, 0.6)),
      ...(await asTheyCome(context, 500, 0.75)),
      await builtAgain(context),
      await readBack(context, 0, 1.5),
      await readBack(context, 5, 3),
      await visible(context),
    ];
  },
};

async function withBoth<T>(
  { server }: BenchContext,
  work: (makers: readonly [ModelMaker, ModelMaker]) => Promise<T>,
): Promise<T> {
  const makers = [await PerspectiveMaker.open(server), await BareLoop.open(server)] as const;
  try {
    return await work(makers);
  } finally {
    for (const maker of makers) await maker.close();
  }
}

/** Events of streams of their own: each becomes a model. */
function asTheyCome(context: BenchContext, count: number, bar: number): Promise<readonly Finding[]> {
  return withBoth(context, async (makers) => {
    const setting = `models of ${count} new streams at a time`;
    context.progress(setting);
    const probes = makers.map(
      (maker): Probe =>
        async () => {
          await maker.fill(count, 1);
          return maker.catchUp();
        },
    );
    const [rounds, warmUp] = [context.size(200, 5), context.size(20, 2)];
    const written = await makers[0].rowsWritten();
    const [costs = [], reference = []] = await takeTurns(probes, rounds, warmUp);
    const rows = ((await makers[0].rowsWritten()) - written) / ((rounds + warmUp) * count);
    const rate: Finding = {
      setting,
      ...costRatio(reference, costs),
      bar: { kind: 'at-least', value: bar },
      info: `${describeCost(costs)} against ${describeCost(reference)}`,
    };
    if (count !== 100) return [rate];
    const perEvent: Finding = {
      setting: 'rows written for an event, 100 at a time',
      value: rows,
      bar: { kind: 'at-most', value: 1.1 },
      info: 'models, bookmarks, held streams',
    };
    return [rate, perEvent];
  });
}

function builtAgain(context: BenchContext): Promise<Finding> {
  return withBoth(context, async (makers) => {
    const [streams, events] = [context.size(20_000, 50), 10];
    const setting = `models of ${formatCount(streams * events)} events built again, against the loop in log order`;
    context.progress(setting);
    for (const maker of makers) await maker.fill(streams, events);
    const probes = makers.map(
      (maker): Probe =>
        async () => {
          await maker.beginAnew();
          return maker.catchUp();
        },
    );
    const [costs = [], reference = []] = await takeTurns(probes, context.size(5, 1), context.size(1, 0));
    const rate = formatCount((streams * events * 1000) / (costs[0] ?? 1));
    return {
      setting,
      ...costRatio(reference, costs),
      bar: { kind: 'at-least', value: 2 },
      info: `${rate} events/s: ${describeCost(costs)} against ${describeCost(reference)}`,
    };
  });
}

/** A model with all that this request has appended, against a read by primary key. */
async function readBack(context: BenchContext, missing: number, bar: number): Promise<Finding> {
  const setting = `get with atLeast, the model ${missing} events behind, against a read by primary key`;
  context.progress(setting);
  const reads = await ModelReads.open(context.server);
  try {
    await reads.prepare(missing);
    const probes = [() => reads.atLeast(), () => reads.byPrimaryKey()];
    const [costs = [], reference = []] = await takeTurns(probes, context.size(500, 10), context.size(50, 2));
    return {
      setting,
      ...costRatio(costs, reference),
      bar: { kind: 'at-most', value: bar },
      info: `${describeCost(costs)} against ${describeCost(reference)}`,
    };
  } finally {
    await reads.close();
  }
}

async function visible(context: BenchContext): Promise<Finding> {
  const setting = 'append to model visible, p99, on an idle system';
  context.progress(setting);
  const reads = await ModelReads.open(context.server);
  try {
    const [times = []] = await takeTurns(
      [() => reads.untilVisible()],
      context.size(500, 5),
      context.size(20, 1),
    );
    return {
      setting,
      value: quantile(times, 0.99),
      unit: 'ms',
      bar: { kind: 'at-most', value: 25 },
      info: `median ${median(times).toFixed(1)} ms, one append after the other`,
    };
  } finally {
    await reads.close();
  }
}
