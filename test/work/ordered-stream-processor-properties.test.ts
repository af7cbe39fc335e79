import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ItemOutcome } from '../../src/work/index.js';
import { ControlledRuns, completed, failed, item, items } from './controlled-runs.js';
import { ProcessorModel } from './ordered-stream-processor-model.js';
import { SimulatedDatabase } from './simulated-database.js';

const outcomes: readonly ItemOutcome[] = [
  completed,
  completed,
  completed,
  { kind: 'settled' },
  failed,
  { kind: 'released' },
  { kind: 'forgotten' },
];

/** Few ids, so that some are added while they are held. */
const anId = fc
  .tuple(fc.constantFrom('a', 'b', 'c', 'd', '-'), fc.integer({ min: 1, max: 6 }))
  .map(([stream, number]) => `${stream}${number}`);

const aStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('add' as const), ids: fc.array(anId, { maxLength: 8 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which: fc.nat(),
      outcome: fc.constantFrom(...outcomes),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('forget' as const), ids: fc.array(anId, { maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('releaseQueued' as const) }) },
);

describe('Any order of events', () => {
  it('the processor starts and reports the same, in the same order, as a plain model', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(aStep, { maxLength: 60 }),
        async (limit, steps) => {
          const runs = new ControlledRuns(limit);
          const model = new ProcessorModel(limit);
          for (const step of steps) {
            if (step.do === 'add') {
              runs.processor.add(items(...step.ids));
              model.add(step.ids);
            } else if (step.do === 'forget') {
              runs.processor.forget(step.ids);
              model.forget(step.ids);
            } else if (step.do === 'releaseQueued') {
              runs.processor.releaseQueued();
              model.releaseQueued();
            } else if (runs.running.length > 0) {
              const run = runs.running[step.which % runs.running.length];
              await run?.end(step.outcome);
              model.end(run?.id ?? '', step.outcome.kind);
            }
            // Between streams only the order of starts matters; within a stream the order of everything.
            const [was, should] = [runs.takeLog(), model.log.splice(0)];
            expect(starts(was)).toEqual(starts(should));
            expect(byStream(was)).toEqual(byStream(should));
            expect([...runs.processor.heldIds].sort()).toEqual(model.heldIds.sort());
            expect([...runs.runningIds].sort()).toEqual(model.runningIds.sort());
            expect(runs.processor.runningCount).toBe(runs.running.length);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('every stream is processed in order, each message once, and none is starved or forgotten', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 12 }), {
          minKeys: 1,
        }),
        fc.infiniteStream(fc.nat({ max: 999 })),
        async (limit, lengths, chances) => {
          const chance = () => chances.next().value as number;
          const database = new SimulatedDatabase(lengths);
          const runs: ControlledRuns = new ControlledRuns(limit, {
            onOutcome: ({ messageId }, { kind }) => database.report(messageId, kind),
          });
          // Trouble ends some time; from then on everything has to come to its end.
          for (let turn = 0; !database.isEmpty; turn++) {
            expect(turn).toBeLessThan(1000);
            const trouble = turn < 100 ? chance() : 999;
            if (trouble < 80) runs.processor.forget(database.expire(chance()));
            else if (trouble < 100) runs.processor.releaseQueued();
            runs.processor.add(database.claim(1 + (chance() % 6)).map(item));
            expectExclusive(runs, limit);
            const run = runs.running[chance() % Math.max(runs.running.length, 1)];
            await run?.end(trouble < 300 ? failed : completed);
          }
          await Promise.all(runs.running.map((run) => run.end(completed)));
          expect(database.violations).toEqual([]);
          expect(database.completed).toEqual(database.stored);
          expect([runs.processor.heldCount, runs.processor.runningCount, runs.errors.length]).toEqual([
            0, 0, 0,
          ]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

const streamOf = (id: string) => (id.startsWith('-') ? id : id.charAt(0));
const starts = (log: readonly string[]) => log.filter((line) => line.startsWith('start'));

function byStream(log: readonly string[]): Record<string, string[]> {
  const streams: Record<string, string[]> = {};
  for (const line of log) {
    const [kind = '', id = ''] = line.split(' ');
    // Duplicates are told for the item that came, and what is lost for those it meets: among these order is free.
    const name = `${kind === 'error' || kind === 'forgotten' ? `${kind} in ` : ''}${streamOf(id)}`;
    streams[name] = [...(streams[name] ?? []), line];
  }
  return Object.fromEntries(
    Object.entries(streams).map(([name, lines]) => [name, name.includes(' in ') ? lines.sort() : lines]),
  );
}

function expectExclusive(runs: ControlledRuns, limit: number): void {
  const streams = runs.runningIds.map(streamOf);
  expect(new Set(streams).size).toBe(streams.length);
  expect(streams.length).toBeLessThanOrEqual(limit);
}
