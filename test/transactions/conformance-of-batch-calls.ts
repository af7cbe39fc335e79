import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MessageProcessingStatus as Status } from '../../src/message.js';
import { asQueryable } from '../../src/transactions/index.js';
import { inboxMessage, outboxMessage } from '../coordinator/new-messages.js';
import { trouble } from './sending.js';
import type { World } from './world.js';

const noRoom = { maxOutboxItems: 0, maxInboxItems: 0, maxPerspectiveItems: 0 };
const done = ({ messageId }: { messageId: string }) => ({ messageId, status: Status.EventStored });

export function describeBatchCalls(world: World): void {
  describe('process_work_batch', () => {
    it('a call in the transaction of a library completes and sends with the commit', async () => {
      const [me, received, sent] = [
        world.coordinator(),
        inboxMessage(),
        outboxMessage({ eventData: trouble }),
      ];
      await me.processWorkBatch({ newInboxMessages: [received] });
      const batch = await world.library.transaction(async (tx, own) => {
        await own.insertOrder(randomUUID());
        const request = { inboxCompletions: [done(received)], newOutboxMessages: [sent], ...noRoom };
        return me.processWorkBatch(request, asQueryable(tx));
      });
      expect(batch).toEqual({ outbox: [], inbox: [], perspectives: [], leaseLost: [] });
      expect([await world.countOf('orders'), await world.countOf('wh_inbox')]).toEqual([1, 0]);
      expect(await world.outbox()).toEqual([{ message_id: sent.messageId, event_data: trouble }]);
    });

    it('a call in the transaction of a library does nothing when that rolls back', async () => {
      const [me, received] = [world.coordinator(), inboxMessage()];
      await me.processWorkBatch({ newInboxMessages: [received] });
      const failed = world.library.transaction(async (tx) => {
        const request = {
          inboxCompletions: [done(received)],
          newOutboxMessages: [outboxMessage()],
          ...noRoom,
        };
        await me.processWorkBatch(request, asQueryable(tx));
        throw new Error('rolled back');
      });
      await expect(failed).rejects.toThrow('rolled back');
      expect([await world.countOf('wh_inbox'), await world.outboxIds()]).toEqual([1, []]);
    });

    it('a call in the transaction of a library hands out work that decodes', async () => {
      const received = inboxMessage({ streamId: randomUUID(), eventData: trouble });
      const batch = await world.library.transaction((tx) =>
        world.coordinator().processWorkBatch({ newInboxMessages: [received] }, asQueryable(tx)),
      );
      const { messageId, streamId } = received;
      expect(batch.inbox).toMatchObject([
        {
          messageId,
          streamId,
          eventData: trouble,
          sequenceOrder: expect.any(BigInt),
          leaseExpiry: expect.any(Date),
        },
      ]);
    });

    it('a call in the transaction of a library reports a lost lease', async () => {
      const received = inboxMessage();
      await world.coordinator().processWorkBatch({ newInboxMessages: [received] });
      const { leaseLost } = await world.library.transaction((tx) =>
        world
          .coordinator()
          .processWorkBatch({ inboxCompletions: [done(received)], ...noRoom }, asQueryable(tx)),
      );
      expect(leaseLost).toEqual([{ source: 'inbox', messageId: received.messageId }]);
    });

    it('a call that is refused in the transaction of a library names the field', async () => {
      const failed = world.library.transaction((tx) =>
        world
          .coordinator()
          .processWorkBatch({ inboxCompletions: [done({ messageId: 'no uuid' })] }, asQueryable(tx)),
      );
      await expect(failed).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: { sqlState: 'WB001', field: expect.stringMatching(/p_inbox_completions/) },
      });
    });

    it('a call that expects another version in the transaction of a library is refused with the actual one', async () => {
      const streamId = randomUUID();
      const event = outboxMessage({ streamId, isEvent: true, expectedVersion: 5 });
      const failed = world.library.transaction((tx) =>
        world.coordinator().processWorkBatch({ newOutboxMessages: [event] }, asQueryable(tx)),
      );
      await expect(failed).rejects.toMatchObject({
        code: 'EXPECTED_VERSION',
        details: { streamId, expectedVersion: 5, actualVersion: 0 },
      });
      expect(await world.outboxIds()).toEqual([]);
    });
  });
}
