// What the event store costs on top of the bare insert: events appended behind a version that the writer expects.

import { openAppend, openAppendFloor } from '../contenders/appending.js';
import { closeAll, type Runner } from '../contenders/contender.js';
import { openEmmettAppend } from '../contenders/emmett.js';
import { interleave, perSecond, ratioOf } from '../measure/interleave.js';
import type { Finding, Question, Skipped } from '../question.js';

const cases = [
  { count: 1, streams: 100, bar: 0.7, ofEmmett: 1.5 },
  { count: 100, streams: 100, bar: 0.8, ofEmmett: 1 },
] as const;

export const append: Question = {
  name: 'append',
  asks: 'events appended with an expected version, against a bare insert that checks it, and against Emmett',
  async run(context) {
    const findings: (Finding | Skipped)[] = [];
    for (const { bar, ofEmmett, ...settings } of cases) {
      const setting = settings.count === 1 ? '1 event' : `${settings.count} events to one stream`;
      context.progress(setting);
      const runners: Runner[] = [];
      try {
        runners.push(await openAppend(context.server, settings));
        runners.push(await openAppendFloor(context.server, settings));
        const emmett = await openEmmettAppend(context.server, settings);
        if (emmett !== undefined) runners.push(emmett);
        const [whizbang, floor, peer] = await interleave(runners, {
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
        findings.push(
          peer === undefined
            ? {
                setting: `${setting}, against Emmett`,
                skipped: 'EMMETT names no folder in which it is installed',
              }
            : {
                setting: `${setting}, against Emmett`,
                ...ratioOf(whizbang, peer),
                bar: { kind: 'at-least', value: ofEmmett },
                info: `whizbang ${perSecond(whizbang)}, emmett ${perSecond(peer)}`,
              },
        );
      } finally {
        await closeAll(runners);
      }
    }
    return findings;
  },
};
