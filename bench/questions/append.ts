// What the event store costs on top of the bare insert: events appended behind a version that the writer expects.

import { openAppend, openAppendFloor } from '../contenders/appending.js';
import { closeAll, type Runner } from '../contenders/contender.js';
import { interleave, perSecond, ratioOf } from '../measure/interleave.js';
import type { Finding, Question } from '../question.js';

const cases = [
  { count: 1, streams: 100, bar: 0.7 },
  { count: 100, streams: 100, bar: 0.8 },
] as const;

export const append: Question = {
  name: 'append',
  asks: 'events appended with an expected version, against a bare insert that checks it',
  async run(context) {
    const findings: Finding[] = [];
    for (const { bar, ...settings } of cases) {
      const setting = settings.count === 1 ? '1 event' : `${settings.count} events to one stream`;
      context.progress(setting);
      const runners: Runner[] = [];
      try {
        runners.push(await openAppend(context.server, settings));
        runners.push(await openAppendFloor(context.server, settings));
        const [whizbang, floor] = await interleave(runners, {
          rounds: context.size(14, 2),
          sliceMs: context.size(700, 100),
          warmUpMs: context.size(2000, 50),
        });
        findings.push({
          setting,
          ...ratioOf(whizbang, floor),
          bar: { kind: 'at-least', value: bar },
          info: `whizbang ${perSecond(whizbang)}, floor ${perSecond(floor)}`,
        });
      } finally {
        await closeAll(runners);
      }
    }
    return findings;
  },
};
