import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MessageProcessingStatus as Status, type WorkBatch, WorkBatchFlags } from '../../src/message.js';
import { newMessageId } from '../../src/message-id.js';
import { CallLine, type CallLineOptions, type WorkUnit } from '../../src/strategies/index.js';
import { inboxMessage, outboxMessage } from '../coordinator/new-messages.js';
import { ScriptedCoordinator } from './scripted-coordinator.js';
import { numbered, openWorkbench, poison, range, type Workbench } from './workbench.js';

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => {
  vi.useRealTimers();
  return bench[Symbol.asyncDispose]();
});

const newLine = (more: Partial<CallLineOptions> = {}) =>
  new CallLine({ coordinator: bench.coordinator, ...more });
const sends = (n: number): WorkUnit => ({ newOutboxMessages: [numbered(n)] });
const poisoned = (n?: number): WorkUnit => ({ newOutboxMessages: [poison(n)] });

describe('A call line', () => {
  it('a thousand runs at the same time make a few calls, in the order they came', async () => {
    const line = newLine();
    await Promise.all(range(1, 1000).map((n) => line.run([sends(n)])));
    expect(bench.calls.length).toBeLessThanOrEqual(2);
    expect(await bench.stored()).toEqual(range(1, 1000));
  });

  it('a call line has one call in flight', async () => {
    let inFlight = 0;
    let most = 0;
    const line = newLine({
      coordinator: {
        processWorkBatch: async (request) => {
          most = Math.max(most, ++inFlight);
          const batch = await bench.coordinator.processWorkBatch(request);
          inFlight--;
          return batch;
        },
      },
    });
    const sender = async (from: number) => {
      for (const n of range(from, from + 9)) await line.run([sends(n)]);
    };
    await Promise.all([10, 20, 30, 40, 50].map(sender));
    expect(most).toBe(1);
    expect(await bench.stored()).toHaveLength(50);
  });

  it('a call line bounds a call, and the rest goes with the next', async () => {
    const line = newLine();
    await Promise.all([
      line.run(range(1, 700).map(sends)),
      line.run([{ newOutboxMessages: range(701, 1100).map((n) => numbered(n)) }]),
      line.run(range(1101, 2500).map(sends)),
    ]);
    expect(bench.calls.map(({ newOutboxMessages }) => newOutboxMessages?.length)).toEqual([700, 1000, 800]);
    expect(await bench.stored()).toEqual(range(1, 2500));
  });

  it('a call continues behind what is held, but not for a while after a lost answer', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const flags: unknown[] = [];
    let continuesAbove = 8;
    const script = new ScriptedCoordinator(['answered', 'unanswered', 'answered', 'answered', 'answered']);
    const line = newLine({
      coordinator: {
        processWorkBatch: (request) => {
          flags.push(request?.flags);
          return script.processWorkBatch(request);
        },
      },
      room: () => ({ outbox: 1, inbox: 9, continuesAbove }),
      lostLeaseMs: 20,
      request: { flags: WorkBatchFlags.LookAgain },
    });
    const { LookAgain, Continues } = WorkBatchFlags;
    await line.run([sends(1)]);
    await expect(line.run([sends(2)])).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await line.run([sends(3)]);
    expect(flags).toEqual([LookAgain | Continues, LookAgain | Continues, LookAgain]);
    vi.advanceTimersByTime(25);
    await line.run([sends(4)]);
    expect(flags.at(-1)).toBe(LookAgain | Continues);
    await line.run([poisoned()]);
    await line.run([sends(6)]);
    expect(flags.at(-1)).toBe(LookAgain | Continues); // to be refused is an answer
    continuesAbove = 9;
    await line.run([sends(5)]);
    expect(flags.at(-1)).toBe(LookAgain);
  });

  it('a call line asks for room when the call is put together, and adds the constant parts', async () => {
    let outbox = 3;
    const line = newLine({ room: () => ({ outbox: outbox--, inbox: 0 }), request: { leaseSeconds: 15 } });
    const apart = range(1, 10).map((n) => ({ newOutboxMessages: [numbered(n, { streamId: null })] }));
    const batches = [await line.run(apart), await line.run([])];
    expect(batches.map(({ batch }) => batch.outbox.length)).toEqual([3, 2]);
    expect(bench.calls).toMatchObject([
      { maxOutboxItems: 3, maxInboxItems: 0, leaseSeconds: 15 },
      { maxOutboxItems: 2, maxInboxItems: 0, leaseSeconds: 15 },
    ]);
  });

  it.each<[string, () => { outbox: number; inbox: number }]>([
    ['is no number', () => ({ outbox: Number.NaN, inbox: 1 })],
    [
      'throws',
      () => {
        throw new Error('no idea');
      },
    ],
  ])('a run rejects, and makes no call, when the room %s', async (_, room) => {
    const line = newLine({ room });
    await expect(line.run([sends(1)])).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'room' },
    });
    expect(bench.calls).toEqual([]);
  });

  it('every item goes to the first run that takes work, and to no other', async () => {
    const line = newLine();
    const blind = line.run([sends(1)], { takesWork: () => false });
    const first = line.run([sends(2)]);
    const second = line.run([sends(3)]);
    const items = (await Promise.all([blind, first, second])).map(({ batch }) => batch.outbox.length);
    expect(items).toEqual([0, 3, 0]);
  });

  it('a run that takes no work asks for none, and makes no call without units', async () => {
    const line = newLine();
    await line.run([sends(1)], { takesWork: () => false });
    await line.run([], { takesWork: () => false });
    expect(bench.calls).toHaveLength(1);
    expect(await bench.leased()).toBe(0);
  });

  it('a long run asks for work in its last call only', async () => {
    const line = newLine();
    const { batch } = await line.run(range(1, 2000).map(sends));
    expect(bench.calls.map(({ maxOutboxItems }) => maxOutboxItems)).toEqual([0, undefined]);
    expect(batch.outbox).toHaveLength(1000);
  });

  it('a call line gives the batch of every call to onBatch, with the time of sending', async () => {
    const heard: [WorkBatch, number][] = [];
    const line = newLine({ onBatch: (batch, sentAt) => heard.push([batch, sentAt]) });
    const before = performance.now();
    const { batch } = await line.run([sends(1)], { takesWork: () => false });
    expect(batch.outbox).toEqual([]);
    expect(heard).toMatchObject([[{ outbox: [{ eventData: { n: 1 } }] }, expect.any(Number)]]);
    expect(heard[0]?.[1]).toBeGreaterThanOrEqual(before);
    expect(heard[0]?.[1]).toBeLessThanOrEqual(performance.now());
  });

  it('every run of a call is told which leases were lost', async () => {
    const line = newLine();
    const completion = { messageId: newMessageId(), status: Status.Published };
    const results = await Promise.all([
      line.run([{ outboxCompletions: [completion] }]),
      line.run([sends(1)]),
    ]);
    for (const { batch } of results) {
      expect(batch.leaseLost).toEqual([{ source: 'outbox', messageId: completion.messageId }]);
    }
  });

  it('a call carries every part of a unit', async () => {
    const line = newLine();
    const [out, inn, event] = [outboxMessage(), inboxMessage(), newMessageId()];
    await line.run([{ newOutboxMessages: [out] }, { newInboxMessages: [inn] }]);
    await line.run([
      { renewOutboxLeaseIds: [out.messageId] },
      { renewInboxLeaseIds: [inn.messageId] },
      { receptorCompletions: [{ eventId: event, receptorName: 'a', status: 8 }] },
      { receptorFailures: [{ eventId: event, receptorName: 'b', status: 0, error: 'no' }] },
      {
        outboxCompletions: [],
        inboxFailures: [{ messageId: inn.messageId, completedStatus: 0, error: 'no' }],
      },
    ]);
    const { rows } = await bench.db.pool.query(
      'select receptor_name, (select error from wh_inbox) as failed from wh_receptor_processing order by 1',
    );
    expect(rows).toEqual([
      { receptor_name: 'a', failed: 'no' },
      { receptor_name: 'b', failed: 'no' },
    ]);
    expect(bench.calls).toHaveLength(2);
  });
});

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
