import { expect, it } from 'vitest';
import { MessageProcessingStatus, WorkCoordinator } from '../../src/coordination.js';
import { newMessageId } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

it('a process that stalls between its completion and its commit locks the stream no longer than its lease', async () => {
  await using db = await createTestDatabase();
  const make = () =>
    new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'shop' }, leaseSeconds: 1 });
  const [stalled, healthy] = [make(), make()];
  const messageId = newMessageId();
  const message = { messageId, handlerName: 'h', eventType: 't', eventData: {}, streamId: newMessageId() };
  await stalled.processWorkBatch({ newInboxMessages: [message] });
  const client = await db.connect();
  await client.query('begin');
  const room = { maxOutboxItems: 0, maxInboxItems: 0 };
  const status = MessageProcessingStatus.EventStored;
  const { leaseLost } = await stalled.processWorkBatch(
    { inboxCompletions: [{ messageId, status }], ...room },
    client,
  );
  expect(leaseLost).toEqual([]);
  // It never commits. Others do not wait for it, and get the message when PostgreSQL has ended its transaction.
  await eventually(async () => {
    const { inbox } = await healthy.processWorkBatch();
    expect(inbox.map((item) => item.messageId)).toEqual([messageId]);
  });
  await expect(client.query('commit')).rejects.toThrow();
});

it.each([
  ['1h', '1min'],
  ['20s', '20s'],
  ['0', '1min'],
])(
  'with idle_in_transaction_session_timeout at %s, a completion in a transaction may be idle for %s',
  async (own, expected) => {
    await using db = await createTestDatabase();
    const coordinator = new WorkCoordinator({
      pool: db.pool,
      instance: { serviceName: 'shop' },
      leaseSeconds: 60,
    });
    const messageId = newMessageId();
    const message = { messageId, handlerName: 'h', eventType: 't', eventData: {}, streamId: newMessageId() };
    await coordinator.processWorkBatch({ newInboxMessages: [message] });
    const client = await db.connect();
    const setting = async () => {
      const { rows } = await client.query('show idle_in_transaction_session_timeout');
      return rows[0]?.idle_in_transaction_session_timeout;
    };
    await client.query("select set_config('idle_in_transaction_session_timeout', $1, false)", [own]);
    await client.query('begin');
    const status = MessageProcessingStatus.EventStored;
    await coordinator.processWorkBatch(
      { inboxCompletions: [{ messageId, status }], maxOutboxItems: 0, maxInboxItems: 0 },
      client,
    );
    expect(await setting()).toBe(expected);
    await client.query('commit');
    expect(await setting()).toBe(own);
  },
);
