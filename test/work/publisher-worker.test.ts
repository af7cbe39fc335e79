import { describe, expect, it } from 'vitest';
import type { WorkItem } from '../../src/message.js';
import type { TransportConnection } from '../../src/transports/index.js';
import { LeaseClock, PublisherWorker } from '../../src/work/index.js';

const item = (messageId: string): WorkItem => ({
  source: 'outbox',
  messageId,
  streamId: null,
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

/** The moments between two lines of asynchronous code: an answer with work may arrive in any of them. */
const moments = Array.from({ length: 16 }, (_, i) => i);

describe('The publisher worker', () => {
  it.each(moments)(
    'the publisher sends what is handed out %i moments after its last batch was sent',
    async (moment) => {
      const sent: string[] = [];
      const leases = new LeaseClock({ leaseSeconds: 15, marginSeconds: 2 });
      const hand = (messageId: string) => {
        leases.hold([messageId], performance.now());
        worker.add([item(messageId)]);
      };
      const connection: TransportConnection = {
        send: async (messages) => {
          sent.push(...messages.map(({ messageId }) => messageId));
          if (sent.length === 1) {
            void (async () => {
              for (let i = 0; i < moment; i++) await Promise.resolve();
              hand('second');
            })();
          }
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
        batchSize: 5,
        waitOf: () => {
          throw new Error('nothing waits here');
        },
        failureOf: () => {
          throw new Error('nothing fails here');
        },
        report: () => {},
        onRoom: () => {},
        onPublished: () => {},
        onReachable: () => {},
        service: 'shop',
      });
      hand('first');
      await new Promise((resolve) => setImmediate(resolve));
      await worker.whenIdle();
      expect(sent).toEqual(['first', 'second']);
      expect(worker.heldCount).toBe(0);
    },
  );
});
