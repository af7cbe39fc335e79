// Random events over random streams: what becomes of the models does not depend on how the log is cut into batches, and
// a poisoned stream changes nothing but itself. What fails prints its seed.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  foldModels,
  keyedPerspective,
  type ModelPerspective,
  type ModelResult,
  perspective,
  type StoredEvent,
  type StoredModel,
} from '../../src/fold/index.js';
import { defineEvent } from '../../src/messages/index.js';
import { id, stored } from './shop.js';

const schema = z.object({ key: z.string(), n: z.number(), poison: z.enum(['no', 'payload', 'apply']) });
const Begun = defineEvent('Begun', { schema });
const Added = defineEvent('Added', { schema });
const Ended = defineEvent('Ended', { schema });
const Told = defineEvent('Told', { schema: z.object({ was: z.number(), is: z.number() }) });
// Does not commute, reads a Date back, and strips a member: all that could differ between two cuts.
const model = z.object({ n: z.number(), at: z.coerce.date(), log: z.array(z.number()) });
const start = { n: 0, at: new Date(0), log: [] as number[] };
const add = (before: z.output<typeof model>, { n, poison }: z.output<typeof schema>) => {
  if (poison === 'apply') throw new Error('poison');
  const at = new Date(before.at.getTime() * 2 + n);
  return { n: before.n * 3 + n, at, log: [...before.log, n].slice(-4), stray: n };
};
const tell = (after: { n: number }, before: { n: number } | null) =>
  after.n % 2 === 0 ? { was: before?.n ?? -1, is: after.n } : undefined;

const single = perspective('single', { model })
  .starts(Begun, (e) => add(start, e))
  .on(Added, add)
  .ends(Ended)
  .announces(Told, tell);
const keyed = keyedPerspective('keyed', { model, initial: start })
  .on(Begun, (e) => e.key, add)
  .on(Added, (e) => [e.key, 'all'], add)
  .announces(Told, tell);

const anEvent = fc.record({
  stream: fc.constantFrom('a', 'b', 'c', 'd'),
  type: fc.constantFrom('Begun', 'Added', 'Added', 'Added', 'Ended'),
  key: fc.constantFrom('x', 'y'),
  n: fc.integer({ min: 0, max: 9 }),
  poison: fc.oneof({ weight: 12, arbitrary: fc.constant('no') }, fc.constantFrom('payload', 'apply')),
});
const anEventLog = fc.array(anEvent, { maxLength: 30 });
type Drawn = typeof anEventLog extends fc.Arbitrary<infer T> ? T : never;

function logOf(drawn: Drawn): StoredEvent[] {
  const versions = new Map<string, number>();
  return drawn.map(({ stream, type, key, n, poison }) => {
    const version = (versions.get(stream) ?? 0) + 1;
    versions.set(stream, version);
    return stored(type, stream, version, { key, n: poison === 'payload' ? 'poison' : n, poison });
  });
}

/** All that has become of the models, when the log comes in batches of these sizes, as a runtime would keep it. */
async function run(of: ModelPerspective<unknown>, log: readonly StoredEvent[], sizes: readonly number[]) {
  const models = new Map<string, StoredModel>();
  const heldStreams = new Set<string>();
  const held: ModelResult<unknown>[] = [];
  const announced = new Map<string, unknown[]>();
  for (let from = 0, turn = 0; from < log.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    const batch = log.slice(from, from + size).filter(({ streamId }) => !heldStreams.has(streamId));
    from += size;
    for (const result of await foldModels(of, models, batch)) {
      if (result.kind !== 'held') {
        models.set(result.id, { model: result.model, version: result.version });
        const payloads = result.announcements.map(({ message }) => message.payload);
        announced.set(result.id, [...(announced.get(result.id) ?? []), ...payloads]);
        continue;
      }
      held.push(result);
      if (result.id === null) heldStreams.add(result.streamId);
      else models.set(result.id, { ...(models.get(result.id) ?? { model: null, version: 0 }), held: true });
    }
  }
  const failures = held.map(
    (each) => each.kind === 'held' && [each.id, each.event.eventId, each.error.message],
  );
  return {
    models: Object.fromEntries(models),
    announced: Object.fromEntries(announced),
    held: failures.sort(),
  };
}

const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 });

it.each([
  ['single stream', single],
  ['keyed', keyed],
])('%s models are the same in batches of any size as event by event', async (_, of) => {
  await fc.assert(
    fc.asyncProperty(anEventLog, cuts, async (drawn, sizes) => {
      const log = logOf(drawn);
      expect(await run(of, log, sizes)).toEqual(await run(of, log, [1]));
    }),
    { numRuns: 300 },
  );
});

it('events that come twice change nothing in single stream models', async () => {
  await fc.assert(
    fc.asyncProperty(anEventLog, cuts, async (drawn, sizes) => {
      const log = logOf(drawn);
      expect(await run(single, [...log, ...log], sizes)).toEqual(await run(single, log, sizes));
    }),
    { numRuns: 200 },
  );
});

it('a poisoned stream never changes the model of another stream', async () => {
  await fc.assert(
    fc.asyncProperty(anEventLog, cuts, async (drawn, sizes) => {
      const log = logOf(drawn);
      const together = await run(single, log, sizes);
      for (const stream of ['a', 'b', 'c', 'd']) {
        const alone = await run(
          single,
          log.filter(({ streamId }) => streamId === id(stream)),
          sizes,
        );
        expect(together.models[id(stream)]).toEqual(alone.models[id(stream)]);
        expect(together.announced[id(stream)]).toEqual(alone.announced[id(stream)]);
      }
    }),
    { numRuns: 200 },
  );
});
