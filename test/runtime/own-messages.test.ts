import { describe, expect, it } from 'vitest';
import { postgresTransport, receptor } from '../../src/index.js';
import type { Transport } from '../../src/transport.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, service } from './service.js';

/** The answer to what is sent comes late: when the receiver already has it. */
function answersLate(until: Promise<void>): Transport {
  const transport = postgresTransport();
  return {
    name: 'late',
    traits: { moves: 'stream', sent: 'unknown', knowsReceivers: false },
    connect: async (host) => {
      const connection = await transport.connect(host);
      return {
        send: async (messages, signal) => {
          const outcomes = await connection.send(messages, signal);
          await until;
          return outcomes;
        },
        receive: (subscription, deliver) => connection.receive(subscription, deliver),
        ready: (signal) => connection.ready(signal),
        close: () => connection.close(),
      };
    },
  };
}

describe('A message that a service sends to itself', () => {
  it('a message held in both lanes stays held in one when it is done in the other', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const onPlaced = receptor(OrderPlaced, async ({ step }) => {
      steps.push(step);
      if (step > 1) return;
      answer(); // the second waits in memory now
      await new Promise((resolve) => setImmediate(resolve));
    });
    await using shop = service(db, { receptors: [onPlaced], transport: answersLate(answered) });
    const lost: unknown[] = [];
    shop.on('leaseLost', (events) => lost.push(...events));
    await shop.start();
    await shop.publish([OrderPlaced({ orderId: 'a', step: 1 }), OrderPlaced({ orderId: 'a', step: 2 })]);
    await eventually(() => expect(steps).toEqual([1, 2]));
    expect(lost).toEqual([]);
  });
});
