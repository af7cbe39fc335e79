import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ItemOutcome, OrderedItem, StartedItem } from '../../src/work/index.js';
import { ControlledRuns, completed, failed, item, items, quiet } from './controlled-runs.js';
import { SimulatedDatabase } from './simulated-database.js';

type Outcomes = readonly (ItemOutcome | undefined)[];

interface Group {
  readonly started: readonly StartedItem<OrderedItem>[];
  readonly ids: string[];
  readonly end: (outcomes: Outcomes) => Promise<void>;
  readonly throw: () => Promise<void>;
}

/** Groups that take all they can get, and end when the test says so. */
class ControlledGroups extends ControlledRuns {
  readonly groups: Group[];

  constructor(
    maxConcurrentStreams: number,
    { most = 16, mayJoin = () => true }: { most?: number; mayJoin?: (item: OrderedItem) => boolean } = {},
    overrides: ConstructorParameters<typeof ControlledRuns>[1] = {},
  ) {
    const groups: Group[] = [];
    super(maxConcurrentStreams, {
      ...overrides,
      together: {
        most,
        mayJoin,
        run: (first, next) => {
          const started = [first];
          for (let another = next(); another; another = next()) started.push(another);
          return new Promise((resolve, reject) => {
            const leave = async (settle: () => void) => {
              groups.splice(groups.indexOf(group), 1);
              settle();
              await quiet();
            };
            const group: Group = {
              started,
              ids: started.map(({ item: { messageId } }) => messageId),
              end: (outcomes) => leave(() => resolve(outcomes)),
              throw: () => leave(() => reject(new Error('all of it'))),
            };
            groups.push(group);
          });
        },
      },
    });
    this.groups = groups;
  }

  get groupIds(): string[][] {
    return this.groups.map(({ ids }) => ids);
  }
}

const all = (group: Group | undefined, outcome: ItemOutcome): Outcomes =>
  (group?.ids ?? []).map(() => outcome);

describe('Groups of messages that run together', () => {
  it('each place gets the same share of the messages that wait', () => {
    const runs = new ControlledGroups(2);
    runs.processor.add(items('a1', 'b1', 'c1', 'd1', 'e1', 'f1'));
    expect(runs.groupIds).toEqual([
      ['a1', 'b1', 'c1'],
      ['d1', 'e1'],
    ]);
    expect(runs.runningIds).toEqual([]);
    expect(runs.processor.runningCount).toBe(2);
  });

  it('messages run in groups only when more of them wait than can run', () => {
    const runs = new ControlledGroups(3);
    runs.processor.add(items('a1', 'b1', 'c1'));
    expect(runs.groupIds).toEqual([]);
    expect(runs.runningIds).toEqual(['a1', 'b1', 'c1']);
  });

  it('a group has no more messages than it may', () => {
    const runs = new ControlledGroups(1, { most: 2 });
    runs.processor.add(items('a1', 'b1', 'c1', 'd1'));
    expect(runs.groupIds).toEqual([['a1', 'b1']]);
  });

  it('a group takes the next of other streams first, and then those behind them, in order', () => {
    const runs = new ControlledGroups(1);
    runs.processor.add(items('a1', 'a2', 'a3', 'b1', 'c1', 'c2'));
    expect(runs.groupIds).toEqual([['a1', 'b1', 'c1', 'a2', 'a3', 'c2']]);
  });

  it('a message that may not join a group is passed by, and started by itself', async () => {
    const runs = new ControlledGroups(1, { mayJoin: ({ messageId }) => messageId !== 'b1' });
    runs.processor.add(items('a1', 'b1', 'c1', 'b2'));
    expect(runs.groupIds).toEqual([['a1', 'c1']]);
    await runs.groups[0]?.end(all(runs.groups[0], { kind: 'settled' }));
    expect(runs.runningIds).toEqual(['b1']);
  });

  it('a group keeps its streams until the whole group has returned', async () => {
    const runs = new ControlledGroups(2, { most: 2 });
    runs.processor.add(items('a1', 'b1', 'c1'));
    const [group] = runs.groups;
    runs.processor.add(items('a2'));
    expect(runs.runningIds).toEqual(['c1']);
    await group?.end(all(group, { kind: 'settled' }));
    expect(runs.runningIds).toEqual(['c1', 'a2']);
  });

  it('the messages of a group that failed run one by one, before all others', async () => {
    const runs = new ControlledGroups(1, { most: 3 });
    runs.processor.add(items('a1', 'a2', 'b1', 'c1', 'd1'));
    expect(runs.groupIds).toEqual([['a1', 'b1', 'c1']]);
    await runs.groups[0]?.throw();
    expect(runs.log).toEqual(['start a1']);
    await runs.run('a1').end(completed);
    await runs.run('b1').end(failed);
    await runs.run('c1').end(completed);
    expect(runs.takeLog()).toEqual([
      ...['start a1', 'completed a1', 'start b1', 'failed b1', 'start c1', 'completed c1'],
    ]);
    expect(runs.groupIds).toEqual([['d1', 'a2']]);
  });

  it('a message in a group that does not succeed gives back what follows it in its stream', async () => {
    const runs = new ControlledGroups(1);
    runs.processor.add(items('a1', 'a2', 'b1'));
    const [group] = runs.groups;
    expect(group?.ids).toEqual(['a1', 'b1', 'a2']);
    await group?.end([{ kind: 'forgotten' }, undefined, undefined]);
    expect(runs.takeLog()).toEqual(['forgotten a1', 'released a2', 'start b1']);
  });

  it('a lost lease aborts only its message in a group, and gives back what follows it', async () => {
    const runs = new ControlledGroups(1);
    runs.processor.add(items('a1', 'a2', 'b1'));
    const [group] = runs.groups;
    runs.processor.forget(['a1']);
    expect(group?.started.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
    expect(runs.takeLog()).toEqual(['forgotten a1']);
    await group?.end([]);
    expect(runs.takeLog()).toEqual(['released a2', 'start b1']);
  });

  it('a group that has returned gets no more messages', async () => {
    let more: () => unknown = () => 'never asked';
    const runs = new ControlledRuns(1, {
      together: {
        most: 16,
        mayJoin: () => true,
        run: async (_, next) => {
          more = next;
          return [completed];
        },
      },
    });
    runs.processor.add(items('a1', 'b1'));
    await quiet();
    runs.processor.add(items('c1'));
    expect(more()).toBeUndefined();
  });
});

describe('Any order of events with groups', () => {
  it('every stream is processed in order with groups, each message once, and nothing is left', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 6 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 12 }), {
          minKeys: 1,
        }),
        fc.infiniteStream(fc.nat({ max: 999 })),
        async (limit, most, lengths, chances) => {
          const chance = () => chances.next().value as number;
          const database = new SimulatedDatabase(lengths);
          const runs: ControlledGroups = new ControlledGroups(
            limit,
            { most, mayJoin: () => chance() > 100 },
            { onOutcome: ({ messageId }, { kind }) => database.report(messageId, kind) },
          );
          for (let turn = 0; !database.isEmpty; turn++) {
            expect(turn).toBeLessThan(1000);
            const trouble = turn < 100 ? chance() : 999;
            if (trouble < 80) runs.processor.forget(database.expire(chance()));
            else if (trouble < 100) runs.processor.releaseQueued();
            runs.processor.add(database.claim(1 + (chance() % 6)).map(item));
            expectExclusive(runs, limit);
            const run = runs.running[chance() % Math.max(runs.running.length, 1)];
            await run?.end(trouble < 300 ? failed : completed);
            const group = runs.groups[chance() % Math.max(runs.groups.length, 1)];
            await group?.end(outcomesOf(group, trouble));
          }
          await Promise.all(runs.running.map((run) => run.end(completed)));
          await Promise.all(runs.groups.map((group) => group.end(all(group, completed))));
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

/** All of it or nothing, as of a transaction; but what is lost is lost. */
function outcomesOf(group: Group, trouble: number): Outcomes {
  const isUndone = trouble < 400 || group.started.some(({ signal }) => signal.aborted);
  if (!isUndone) return all(group, completed);
  return group.ids.map((_, i) => (trouble % 5 === i ? { kind: 'forgotten' } : undefined));
}

function expectExclusive(runs: ControlledGroups, limit: number): void {
  const streams = [...runs.runningIds.map((id) => [id]), ...runs.groupIds].map((ids) => [
    ...new Set(ids.map((id) => id.charAt(0))),
  ]);
  expect(streams.length).toBeLessThanOrEqual(limit);
  expect(new Set(streams.flat()).size).toBe(streams.flat().length);
  for (const { ids } of runs.groups) {
    for (const name of new Set(ids.map((id) => id.charAt(0)))) {
      const steps = ids.filter((id) => id.startsWith(name)).map((id) => Number(id.slice(1)));
      expect(steps).toEqual([...steps].sort((a, b) => a - b));
    }
  }
}
