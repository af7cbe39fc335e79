import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MessageProcessingStatus as Status, type WorkBatch, WorkBatchFlags } from '../../src/message.js';
import { newMessageId } from '../../src/message-id.js';
import { CallLine, type CallLineOptions } from '../../src/strategies/index.js';
import { inboxMessage, outboxMessage } from '../coordinator/new-messages.js';
import { ScriptedCoordinator } from './scripted-coordinator.js';
import { numbered, openWorkbench, poisoned, range, sends, type Workbench } from './workbench.js';

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
