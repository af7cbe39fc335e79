// What coordination costs on top of the bare writes: store, hand out and complete in batches, against a
// multi-row insert and delete of the same rows.

import { type CycleSettings, closeAll } from '../contenders/contender.js';
import { openFloor } from '../contenders/floor.js';
import { openWhizbang } from '../contenders/whizbang.js';
import { interleave, perSecond, ratioOf } from '../measure/interleave.js';
import type { BenchContext, Finding, Question } from '../question.js';

const cases: readonly (CycleSettings & { readonly bar: number })[] = [
  { batchSize: 100, streams: 100, bar: 0.7 },
  { batchSize: 500, streams: 100, bar: 0.7 },
  { batchSize: 100, streams: 'own', bar: 0.5 },
  { batchSize: 500, streams: 'own', bar: 0.5 },
];

export const fullCycle: Question = {
  name: 'full-cycle',
  asks: 'full cycle in batches, against insert + delete',
  async run(context) {
    const findings: Finding[] = [];
    for (const { bar, ...settings } of cases) findings.push(await againstTheFloor(context, settings, bar));
    return findings;
  },
};

/**
 * Measures one setting of whizbang against the floor in the same setting. Shared with the one-message
 * question.
 */
export async function againstTheFloor(
  context: BenchContext,
  settings: CycleSettings,
  bar: number,
): Promise<Finding> {
  const setting = `batch ${settings.batchSize}, ${settings.streams === 'own' ? 'own streams' : `${settings.streams} streams`}`;
  context.progress(setting);
  const runners = [await openWhizbang(context.server, settings), await openFloor(context.server, settings)];
  try {
    const [whizbang, floor] = await interleave(runners, {
      rounds: context.size(14, 2),
      sliceMs: context.size(700, 100),
      warmUpMs: context.size(2000, 50),
    });
    return {
      setting,
      ...ratioOf(whizbang, floor),
      bar: { kind: 'at-least', value: bar },
      info: `whizbang ${perSecond(whizbang)}, floor ${perSecond(floor)}`,
    };
  } finally {
    await closeAll(runners);
  }
}
