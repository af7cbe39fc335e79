// Whether the memory of an instance stays flat over 200 000 messages. The live memory after a forced
// collection is sampled every twentieth of the run, when nothing is under way. Flat is judged by the medians
// of two quarters: the last against the second (the first warms up). First 200 streams that continue, then
// streams that each end at once.

import { formatCount } from '../measure/interleave.js';
import { type LiveMemory, liveMemory } from '../measure/live-memory.js';
import { median } from '../measure/statistics.js';
import { SteadyLoad } from '../measure/steady-load.js';
import { messageSource } from '../messages.js';
import type { BenchContext, Finding, Question } from '../question.js';

const samples = 20;

export const memory: Question = {
  name: 'memory',
  asks: 'live memory late, against early, in a running instance',
  async run(context) {
    return [...(await watch(context, 200)), ...(await watch(context, 'own'))];
  },
};

async function watch(context: BenchContext, streams: number | 'own'): Promise<Finding[]> {
  const count = context.size(200_000, 1_000);
  const setting = `${formatCount(count)} messages, ${streams === 'own' ? 'own streams' : `${streams} streams`}`;
  context.progress(setting);
  const load = await SteadyLoad.open(context.server, messageSource(streams), { transactional: false });
  const taken: LiveMemory[] = [];
  try {
    for (let i = 0; i < samples; i++) {
      await load.take(count / samples);
      taken.push(await liveMemory());
    }
  } finally {
    await load.close();
  }
  const quarter = (nth: number) => taken.slice((nth * samples) / 4, ((nth + 1) * samples) / 4);
  const growth = (of: (sample: LiveMemory) => number) => ({
    value: median(quarter(3).map(of)) / median(quarter(1).map(of)),
    info: `MB, at each tenth: ${taken
      .filter((_, i) => i % 2 === 1)
      .map((sample) => (of(sample) / 2 ** 20).toFixed(1))
      .join(' ')}`,
  });
  return [
    {
      setting: `${setting}: heap`,
      ...growth(({ heap }) => heap),
      bar: { kind: 'at-most', value: 1.05, own: true },
    },
    { setting: `${setting}: resident`, ...growth(({ resident }) => resident) },
  ];
}
