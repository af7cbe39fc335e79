// A schedule that is looked at at any times, late and after long pauses, against a list of all its times.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { type CatchUp, defineCommand, schedule } from '../../src/index.js';
import { dueTimes } from '../../src/schedules/due-times.js';

const CloseBooks = defineCommand('CloseBooks', { schema: z.object({}) });
const graceMs = 60_000;
const start = Date.parse('2026-03-02T00:00:00Z'); // a Monday

/** Patterns, each with how far its possible times lie apart, and which of them it means. */
const patterns: readonly (readonly [cron: string, stepMs: number, means: (time: Date) => boolean])[] = [
  ['*/20 * * * * *', 1_000, (time) => time.getUTCSeconds() % 20 === 0],
  ['*/5 * * * *', 60_000, (time) => time.getUTCMinutes() % 5 === 0],
  ['0 2 * * *', 60_000, (time) => time.getUTCHours() === 2 && time.getUTCMinutes() === 0],
  [
    '15 10 * * 1-5',
    60_000,
    (time) => time.getUTCHours() === 10 && time.getUTCMinutes() === 15 && time.getUTCDay() % 6 !== 0,
  ],
];

/** What is sent at one look: the list of times that no look has passed yet, and the time of the look. */
function expectedOf(catchUp: CatchUp, waiting: readonly number[], now: number): readonly number[] {
  const due = waiting.filter((time) => time <= now);
  if (catchUp === 'all') return due;
  const last = due.at(-1);
  return last === undefined || (catchUp === 'skip' && now - last > graceMs) ? [] : [last];
}

it('any looks at a schedule send what a list of its times would send', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...patterns),
      fc.constantFrom<CatchUp>('skip', 'last', 'all'),
      fc.array(fc.oneof(fc.nat({ max: 2 }), fc.nat({ max: 90 }), fc.nat({ max: 5_000 })), {
        minLength: 1,
        maxLength: 25,
      }),
      ([cron, stepMs, means], catchUp, gaps) => {
        const plan = schedule('a', cron, () => CloseBooks({}), { catchUp });
        const end = start + gaps.reduce((sum, gap) => sum + gap * stepMs, 0) + 8 * 86_400_000;
        const listed: number[] = [];
        for (let time = start + stepMs; time <= end && listed.length < 2_000; time += stepMs)
          if (means(new Date(time))) listed.push(time);
        let [now, waiting] = [start, listed as readonly number[]];
        let next = listed[0] as number;
        for (const gap of gaps) {
          now += gap * stepMs;
          const sent: number[] = [];
          while (next <= now) {
            const due = dueTimes(plan, next, now);
            sent.push(...due.times);
            next = due.next as number;
          }
          if (now > (listed.at(-1) as number)) return; // beyond the list
          expect(sent).toEqual(expectedOf(catchUp, waiting, now));
          waiting = waiting.filter((time) => time > now);
          expect(next).toBe(waiting[0]);
        }
      },
    ),
    { numRuns: 200 },
  );
});
