// Whether several instances on one database slow each other down: one, two, four and eight of them, each with
// its own connection, at full load on the same machine. Over own streams they share only the tables; over 100
// shared streams, the messages that one instance stores are often handled by another.

import type pg from 'pg';
import { interleave, perSecond, type Rates, ratioOf } from '../measure/interleave.js';
import { repeatUntilDone } from '../measure/shared-load.js';
import { messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';
import { BenchInstance } from '../work-batch.js';

const counts = [1, 2, 4, 8] as const;
const batchSize = 100;

export const instances: Question = {
  name: 'instances',
  asks: 'several instances, against the best result of fewer or as many',
  async run(context) {
    return [...(await growWith(context, 'own')), ...(await growWith(context, 100))];
  },
};

async function growWith(context: BenchContext, streams: number | 'own'): Promise<Finding[]> {
  const title = streams === 'own' ? 'own streams' : `${streams} shared streams`;
  context.progress(title);
  const database = await context.server.createMigratedDatabase();
  const clients: pg.Client[] = [];
  try {
    for (let i = 0; i < Math.max(...counts); i++) clients.push(await database.connect());
    const runners = counts.map((count) => ({
      name: `${count} instances`,
      slice: (milliseconds: number) => loadSlice(clients.slice(0, count), streams, milliseconds),
      close: async () => {},
    }));
    const rates = await interleave(runners, {
      rounds: context.size(8, 1),
      sliceMs: context.size(1500, 150),
      warmUpMs: context.size(1000, 50),
    });
    return counts.slice(1).map((count, i) => finding(title, count, rates.slice(0, i + 2)));
  } finally {
    for (const client of clients) await client.end();
    await database.drop();
  }
}

async function loadSlice(clients: readonly pg.Client[], streams: number | 'own', milliseconds: number) {
  const active = clients.map((client) => new BenchInstance(client));
  const slice = await repeatUntilDone(active, messageSource(streams), batchSize, milliseconds);
  for (const instance of active) await instance.deregister();
  return slice;
}

/**
 * Compares with the best of the counts up to this one: more instances may be faster, but must not be slower.
 */
function finding(title: string, count: number, rates: readonly Rates[]): Finding {
  const own = rates.at(-1);
  const best = rates.reduce((a, b) => (b.median > a.median ? b : a));
  return {
    setting: `${count} instances, ${title}`,
    ...ratioOf(own, best),
    bar: { kind: 'at-least', value: 0.9 },
    info: `${perSecond(own)}; best ${perSecond(best)}, one instance ${perSecond(rates[0])}`,
  };
}
