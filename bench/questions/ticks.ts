// What the order of all events costs: an append with the index that ticks need, a tick beside very many uncommitted
// events, a tick per event that it seals, and a reader that wants few of very many events.

import { readEvents } from '../../src/coordinator/event-functions.js';
import { BenchEventStore } from '../event-store.js';
import { costRatio, describeCost, type Probe, takeTurns, timed } from '../measure/call-costs.js';
import { formatCount } from '../measure/interleave.js';
import { median } from '../measure/statistics.js';
import type { BenchContext, Finding, Question } from '../question.js';

export const ticks: Question = {
  name: 'ticks',
  asks: 'cost of a tick beside uncommitted events, of an append with its index, of a read of rare events',
  async run(context) {
    return [
      ...(await besideUncommitted(context)),
      await perEvent(context),
      await appends(context, 100),
      await appends(context, 1),
      await rareEvents(context),
    ];
  },
};

/**
 * First ticks that have nothing to seal: the last tick is from before the writer began, which then lies among the
 * transactions that are new. Then ticks of 10 events: it is one of those that were open at the last tick.
 */
async function besideUncommitted(context: BenchContext): Promise<readonly Finding[]> {
  const count = context.size(200_000, 2_000);
  const stores = [await BenchEventStore.open(context.server), await BenchEventStore.open(context.server)];
  const writer = await stores[0]?.database.connect();
  try {
    for (const store of stores) {
      await store.fill(10_000);
      await store.tick(10_000);
    }
    await writer?.query('begin');
    await stores[0]?.fill(count, undefined, writer);
    const findings: Finding[] = [];
    for (const events of [0, 10]) {
      const setting = `a tick of ${events} events beside ${formatCount(count)} uncommitted ones, against none`;
      context.progress(setting);
      const probes = stores.map(
        (store): Probe =>
          async () => {
            if (events > 0) await store.append(events);
            else await store.client.query('select pg_current_xact_id()');
            return store.tick(events);
          },
      );
      const [costs = [], reference = []] = await takeTurns(
        probes,
        context.size(500, 10),
        context.size(50, 2),
      );
      findings.push({
        setting,
        ...costRatio(costs, reference),
        bar: { kind: 'at-most', value: 1.5 },
        info: `${describeCost(costs)} against ${describeCost(reference)}`,
      });
    }
    return findings;
  } finally {
    await writer?.end();
    for (const store of stores) await store.close();
  }
}

async function perEvent(context: BenchContext): Promise<Finding> {
  const count = context.size(10_000, 500);
  const setting = `a tick of ${formatCount(count)} events, against their append in batches of 100`;
  context.progress(setting);
  const store = await BenchEventStore.open(context.server);
  try {
    const costs: number[] = [];
    const reference: number[] = [];
    for (let round = 0; round < context.size(30, 3); round++) {
      let appending = 0;
      for (let appended = 0; appended < count; appended += 100) appending += await store.append(100);
      reference.push(appending);
      costs.push(await store.tick(count));
    }
    const microseconds = ((median(costs) * 1000) / count).toFixed(2);
    return {
      setting,
      ...costRatio(costs, reference),
      bar: { kind: 'at-most', value: 0.15, own: true },
      info: `${microseconds} µs per event: ${describeCost(costs)} against ${describeCost(reference)}`,
    };
  } finally {
    await store.close();
  }
}

/** Append by append in turns, not in slices: the medians of single appends are steadier where a commit waits for the disk. */
async function appends(context: BenchContext, batchSize: number): Promise<Finding> {
  const setting = `rate of appends of ${batchSize}, against the store without what ticks need`;
  context.progress(setting);
  const stores = [await BenchEventStore.open(context.server), await BenchEventStore.open(context.server)];
  try {
    await stores[1]?.withoutTicks();
    const probes = stores.map(
      (store): Probe =>
        () =>
          store.append(batchSize),
    );
    const [costs = [], reference = []] = await takeTurns(
      probes,
      context.size(3_000, 20),
      context.size(300, 5),
    );
    return {
      setting,
      ...costRatio(reference, costs),
      bar: { kind: 'at-least', value: 0.9 },
      info: `${describeCost(costs)} against ${describeCost(reference)}`,
    };
  } finally {
    for (const store of stores) await store.close();
  }
}

async function rareEvents(context: BenchContext): Promise<Finding> {
  const [many, few] = [context.size(1_000_000, 10_000), context.size(100_000, 5_000)];
  const rare = 5;
  const setting = `reading the ${rare} rare events of ${formatCount(many)}, against those of ${formatCount(few)}`;
  context.progress(setting);
  const stores: BenchEventStore[] = [];
  try {
    for (const count of [many, few]) {
      const store = await BenchEventStore.open(context.server);
      stores.push(store);
      await store.fill(count, count / rare);
      await store.tick(count);
      await store.settle();
    }
    const probes = stores.map(
      (store): Probe =>
        () =>
          readRare(store, rare),
    );
    const [costs = [], reference = []] = await takeTurns(probes, context.size(100, 5), context.size(10, 1));
    return {
      setting,
      ...costRatio(costs, reference),
      bar: { kind: 'at-most', value: 1.5, own: true },
      info: `${describeCost(costs)} against ${describeCost(reference)}`,
    };
  } finally {
    for (const store of stores) await store.close();
  }
}

/** Milliseconds of reading the whole store for one type, in reads of 100. */
async function readRare(store: BenchEventStore, expected: number): Promise<number> {
  let after = { tick: 0, sequenceNumber: 0 };
  let [found, total] = [0, 0];
  for (;;) {
    const [rows, milliseconds] = await timed(() =>
      readEvents(store.client, 'whizbang', after, ['Rare'], 100),
    );
    total += milliseconds;
    const last = rows.at(-1);
    if (last === undefined) break;
    found += rows.filter(({ event_id }) => event_id !== null).length;
    after = { tick: last.tick, sequenceNumber: last.sequence_number };
  }
  if (found !== expected) throw new Error(`${found} rare events were read instead of ${expected}`);
  return total;
}
