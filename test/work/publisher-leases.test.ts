import { describe, expect, it } from 'vitest';
import type { WorkItem } from '../../src/message.js';
import type { WorkUnit } from '../../src/strategies/index.js';
import type { TransportConnection } from '../../src/transports/index.js';
import { LeaseClock, PublisherWorker } from '../../src/work/index.js';
import { eventually } from '../support/eventually.js';

const item = (messageId: string, streamId: string): WorkItem => ({
  source: 'outbox',
  messageId,
  streamId,
  partitionNumber: 0,
  destination: 'd',
  eventType: 't',
  eventData: {},
  metadata: {},
  scope: null,
  status: 1,
  flags: 0,
  attempts: 0,
  sequenceOrder: 1n,
  leaseExpiry: new Date(),
});

/** A publisher whose transport and clock are the test's. */
function bench(batchSize: number) {
  const tried: string[][] = [];
  const reports: WorkUnit[] = [];
  const clock = { ms: 0 };
  const leases = new LeaseClock({ leaseSeconds: 15, marginSeconds: 2, now: () => clock.ms });
  const transport = { answer: async (): Promise<void> => {} };
  const connection: TransportConnection = {
    send: async (messages) => {
      tried.push(messages.map(({ messageId }) => messageId));
      await transport.answer();
      return messages.map(() => ({ kind: 'sent' }) as const);
    },
    receive: async () => ({ stop: async () => {} }),
    ready: async () => {},
    close: async () => {},
  };
  const worker = new PublisherWorker({
    connection,
    leases,
    capacity: 10,
    batchSize,
    waitOf: () => {
      throw new Error('nothing waits here');
    },
    failureOf: () => {
      throw new Error('nothing fails here');
    },
    report: (unit) => void reports.push(unit),
    onRoom: () => {},
    onPublished: () => {},
    onReachable: () => {},
    service: 'shop',
  });
  const hand = (messageId: string, streamId: string) => {
    leases.hold([messageId], clock.ms);
    worker.add([item(messageId, streamId)]);
  };
  const released = () =>
    reports.flatMap(({ outboxCompletions = [] }) =>
      outboxCompletions.filter(({ status }) => status === 0).map(({ messageId }) => messageId),
    );
  return { worker, leases, clock, transport, tried, hand, released };
}

describe('A publisher that has lost the lease of a message', () => {
  it('a publisher does not send what waits behind a message with a lost lease, and gives it back', async () => {
    const { worker, transport, tried, hand, released } = bench(1);
    let goOn = () => {};
    transport.answer = () => new Promise((resolve) => (goOn = resolve));
    hand('x', 'other');
    hand('a1', 'a');
    hand('a2', 'a');
    hand('b1', 'b');
    expect(worker.forget(['a1'])).toEqual(['a1']);
    transport.answer = async () => {};
    goOn();
    await worker.whenIdle();
    expect(tried).toEqual([['x'], ['b1']]);
    expect(released()).toEqual(['a2']);
    expect(worker.heldCount).toBe(0);
  });

  it('a publisher does not send later messages of a stream whose lease expired during an outage', async () => {
    const { worker, leases, clock, transport, tried, hand, released } = bench(5);
    let isAway = true;
    transport.answer = async () => {
      if (isAway) throw new Error('away');
    };
    worker.add([]);
    hand('a1', 'a');
    await eventually(() => expect(tried.length).toBeGreaterThan(0));
    isAway = false;
    // Its batch is what is sent again: a2 is in the next one.
    hand('a2', 'a');
    hand('b1', 'b');
    clock.ms = 12_000;
    leases.renewed(['a2', 'b1'], 12_000);
    clock.ms = 14_000; // a1 is not surely ours any more, and nobody has said so yet
    await worker.whenIdle();
    expect(tried.filter((batch) => batch.includes('a2'))).toEqual([]);
    expect(tried.at(-1)).toEqual(['b1']);
    expect(released()).toEqual(['a2']);
    expect(leases.isSafe('a2')).toBe(false);
  });

  it('a publisher does not send a later message of the same batch behind a lost lease', async () => {
    const { worker, leases, clock, transport, tried, released } = bench(5);
    let isAway = true;
    transport.answer = async () => {
      if (isAway) throw new Error('away');
    };
    leases.hold(['a1', 'a2', 'b1'], 0);
    worker.add([item('a1', 'a'), item('a2', 'a'), item('b1', 'b')]);
    await eventually(() => expect(tried.length).toBeGreaterThan(0));
    leases.renewed(['a2', 'b1'], 12_000);
    clock.ms = 14_000;
    worker.forget(['a1']);
    const before = tried.length;
    isAway = false;
    await worker.whenIdle();
    expect(tried.slice(before).filter((batch) => batch.includes('a2'))).toEqual([]);
    expect(tried.at(-1)).toEqual(['b1']);
    expect(released()).toEqual(['a2']);
  });
});
