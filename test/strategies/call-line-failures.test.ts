import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallLine, type CallLineOptions, type WorkUnit } from '../../src/strategies/index.js';
import { numbered, openWorkbench, poisoned, range, sends, type Workbench } from './workbench.js';

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const newLine = (more: Partial<CallLineOptions> = {}) =>
  new CallLine({ coordinator: bench.coordinator, ...more });

describe('A call that is refused for its input', () => {
  it('a bad unit is refused alone, and the others keep their order', async () => {
    const line = newLine();
    const units = range(1, 100).map((n) => (n === 37 ? poisoned(n) : sends(n)));
    const { refused, batch } = await line.run(units);
    expect([...refused.keys()]).toEqual([units[36]]);
    expect([...refused.values()]).toMatchObject([
      { code: 'INVALID_REQUEST', details: { sqlState: '22P05' } },
    ]);
    expect(await bench.stored()).toEqual(range(1, 100).filter((n) => n !== 37));
    expect(batch.outbox).toHaveLength(99);
    expect(bench.calls.length).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(100)));
  });

  it('each of several bad units is refused, also the last, and work is still asked for', async () => {
    const line = newLine();
    const results = await Promise.all([
      line.run([poisoned()]),
      line.run([sends(1), poisoned()]),
      line.run([sends(2)]),
      line.run([poisoned()]),
    ]);
    expect(results.map(({ refused }) => refused.size)).toEqual([1, 1, 0, 1]);
    expect(results.map(({ batch }) => batch.outbox.length)).toEqual([2, 0, 0, 0]);
    expect(await bench.stored()).toEqual([1, 2]);
  });

  it('a unit that cannot be encoded is refused like one that cannot be stored', async () => {
    const line = newLine();
    const odd: WorkUnit = { newOutboxMessages: [numbered(1, { eventData: { big: 1n } })] };
    const { refused } = await line.run([odd, sends(2)]);
    expect(refused.get(odd)).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await bench.stored()).toEqual([2]);
  });

  it('one of two events that expect the same version is stored, and the other is refused', async () => {
    const line = newLine();
    const event = (n: number): WorkUnit => ({
      newOutboxMessages: [numbered(n, { isEvent: true, expectedVersion: 0 })],
    });
    const [winner, loser] = await Promise.all([line.run([event(1)]), line.run([event(2)])]);
    expect(winner.refused.size).toBe(0);
    expect([...loser.refused.values()]).toMatchObject([
      { code: 'EXPECTED_VERSION', details: { expectedVersion: 0, actualVersion: 1 } },
    ]);
    expect(await bench.stored()).toEqual([1]);
  });

  it('a unit that a trigger of the user rejects is refused', async () => {
    await bench.db.pool.query(`
      create function no_two() returns trigger language plpgsql as
        $$ begin if new.event_data->>'n' = '2' then raise 'not two'; end if; return new; end $$;
      create trigger no_two before insert on wh_outbox for each row execute function no_two()`);
    const { refused } = await newLine().run([sends(1), sends(2), sends(3)]);
    expect([...refused.values()]).toMatchObject([{ message: 'not two' }]);
    expect(await bench.stored()).toEqual([1, 3]);
  });

  it('no unit is blamed for an option that is wrong for every call', async () => {
    const line = newLine({ request: { leaseSeconds: -1 } });
    await expect(line.run([sends(1), sends(2)])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'p_lease_seconds' },
    });
    expect(bench.calls).toHaveLength(1);
  });

  it('a call that is longer than a string can be is split', async () => {
    const line = newLine({
      coordinator: {
        processWorkBatch: (request) => {
          if ((request?.newOutboxMessages?.length ?? 0) > 2) throw new RangeError('Invalid string length');
          return bench.coordinator.processWorkBatch(request);
        },
      },
    });
    const { refused } = await line.run(range(1, 9).map(sends));
    expect(refused.size).toBe(0);
    expect(await bench.stored()).toEqual(range(1, 9));
  });
});

describe('A call that fails', () => {
  it('a failed call rejects the runs that were in it, and later runs go on', async () => {
    const line = newLine();
    await bench.takeSchemaAway();
    const failed = [line.run([sends(1)]), line.run([sends(2)])];
    for (const run of failed) await expect(run).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
    await bench.bringSchemaBack();
    await line.run([sends(3)]);
    expect(await bench.stored()).toEqual([3]);
  });

  it('a failed call gives back the uncommitted units, in order, before the next call', async () => {
    const back: WorkUnit[] = [];
    const carried: WorkUnit[] = [];
    const units = range(1, 2500).map(sends);
    let calls = 0;
    const line = newLine({
      coordinator: {
        processWorkBatch: async (request) => {
          if (++calls === 2) throw new Error('the cable');
          return bench.coordinator.processWorkBatch(request);
        },
      },
    });
    const run = line.run(units, {
      fate: {
        carried: (unit) => carried.push(unit),
        refused: () => {},
        unsent: (unsent) => back.push(...unsent),
      },
    });
    const again = line.run(() => back);
    await expect(run).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await again;
    expect(carried).toEqual(units.slice(0, 1000));
    expect(await bench.stored()).toEqual(range(1, 2500));
  });

  it('a run whose units were committed before a later call failed is not rejected', async () => {
    let calls = 0;
    const line = newLine({
      coordinator: {
        processWorkBatch: async (request) => {
          if (++calls === 3) throw new Error('the cable');
          return bench.coordinator.processWorkBatch(request);
        },
      },
    });
    const blind = { takesWork: () => false };
    const first = line.run([sends(1)], blind);
    const second = line.run([poisoned()], blind); // so that the call is made again by halves
    await expect(second).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect((await first).refused.size).toBe(0);
    expect(await bench.stored()).toEqual([1]);
  });

  it('a run that cannot list its units leaves other runs alone', async () => {
    const line = newLine();
    const wrong = line.run(() => {
      throw new Error('no units');
    });
    const right = line.run([sends(1)]);
    await expect(wrong).rejects.toThrow('no units');
    await right;
    expect(await bench.stored()).toEqual([1]);
  });
});
