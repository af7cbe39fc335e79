import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CoordinatorOptions,
  MessageProcessingStatus as Status,
  WorkBatchFlags,
  type WorkBatchRequest,
  WorkCoordinator,
} from '../../src/coordination.js';
import { migrate, newMessageId } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { inboxMessage, outboxMessage } from './new-messages.js';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const coordinator = (more: Partial<CoordinatorOptions> = {}) =>
  new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'orders' }, ...more } as CoordinatorOptions);
const rowsOf = async (sql: string) => (await db.pool.query(sql)).rows;
const ids = (items: readonly { messageId: string }[]) => items.map(({ messageId }) => messageId);

describe('A WorkCoordinator', () => {
  it('the coordinator stores, hands out and completes a message of each lane in two calls', async () => {
    const it = coordinator();
    const [out, inn] = [outboxMessage({ streamId: newMessageId(), scope: { tenant: 7 } }), inboxMessage()];
    const before = Date.now();
    const batch = await it.processWorkBatch({
      newOutboxMessages: [out],
      newInboxMessages: [inn],
      leaseSeconds: 60,
    });
    expect(batch.outbox).toEqual([
      {
        source: 'outbox',
        messageId: out.messageId,
        streamId: out.streamId,
        partitionNumber: expect.any(Number),
        destination: 'billing',
        eventType: 'OrderPlaced',
        eventData: { n: 1 },
        metadata: {},
        scope: { tenant: 7 },
        status: Status.Stored,
        flags: WorkBatchFlags.NewlyStored,
        attempts: expect.any(Number),
        sequenceOrder: expect.any(BigInt),
        leaseExpiry: expect.any(Date),
      },
    ]);
    const [item] = batch.outbox;
    expect(Math.abs((item?.leaseExpiry.getTime() ?? 0) - before - 60_000)).toBeLessThan(30_000);
    expect(batch.inbox).toMatchObject([
      { source: 'inbox', messageId: inn.messageId, streamId: null, destination: 'bill' },
    ]);

    const done = await it.processWorkBatch({
      outboxCompletions: [{ messageId: out.messageId, status: Status.Published }],
      inboxCompletions: [{ messageId: inn.messageId, status: Status.EventStored }],
    });
    expect(done).toEqual({ outbox: [], inbox: [], perspectives: [], leaseLost: [] });
    expect(
      await rowsOf('select message_id from wh_outbox union all select message_id from wh_inbox'),
    ).toEqual([]);
  });

  it('the coordinator carries every other part of a request to its table', async () => {
    const it = coordinator();
    const [dead, late, event] = [outboxMessage(), inboxMessage(), newMessageId()];
    await it.processWorkBatch({ newOutboxMessages: [dead], newInboxMessages: [late] });
    await it.processWorkBatch({
      outboxFailures: [
        { messageId: dead.messageId, completedStatus: 0, error: 'no route', deadLetter: true },
      ],
      inboxFailures: [
        { messageId: late.messageId, completedStatus: 0, error: 'busy', retryAfterSeconds: 90.5 },
      ],
      receptorCompletions: [{ eventId: event, receptorName: 'mail', status: Status.ReceptorProcessed }],
      receptorFailures: [{ eventId: event, receptorName: 'print', status: 0, error: 'no paper' }],
      perspectiveFailures: [{ streamId: event, perspectiveName: 'totals', status: 0, error: 'overflow' }],
    });
    expect(await rowsOf('select message_id, error from wh_dead_letters')).toEqual([
      { message_id: dead.messageId, error: 'no route' },
    ]);
    expect(
      await rowsOf('select error, scheduled_for > now() + interval $$80 s$$ as later from wh_inbox'),
    ).toEqual([{ error: 'busy', later: true }]);
    expect(await rowsOf('select receptor_name, error from wh_receptor_processing order by 1')).toEqual([
      { receptor_name: 'mail', error: null },
      { receptor_name: 'print', error: 'no paper' },
    ]);
    expect(await rowsOf('select perspective_name, error from wh_perspective_checkpoints')).toEqual([
      { perspective_name: 'totals', error: 'overflow' },
    ]);
  });

  it('the coordinator reports leases that it renews or completes and does not hold', async () => {
    const it = coordinator();
    const [gone, other] = [newMessageId(), newMessageId()];
    const batch = await it.processWorkBatch({
      renewOutboxLeaseIds: [gone],
      inboxCompletions: [{ messageId: other, status: Status.EventStored }],
    });
    expect(batch.leaseLost).toEqual([
      { source: 'outbox', messageId: gone },
      { source: 'inbox', messageId: other },
    ]);
  });

  it('the coordinator renews the lease of a message that it holds', async () => {
    const it = coordinator({ leaseSeconds: 5 });
    const message = outboxMessage();
    await it.processWorkBatch({ newOutboxMessages: [message] });
    const batch = await it.processWorkBatch({ renewOutboxLeaseIds: [message.messageId], leaseSeconds: 500 });
    expect(batch.leaseLost).toEqual([]);
    expect(
      await rowsOf('select lease_expiry > now() + interval $$400 s$$ as renewed from wh_active_streams'),
    ).toEqual([{ renewed: true }]);
  });

  it('an instance registers with its host and process, unless it is given others', async () => {
    const [plain, told] = [
      coordinator(),
      coordinator({ instance: { serviceName: 'x', hostName: 'h', processId: 3, metadata: { zone: 'a' } } }),
    ];
    await plain.processWorkBatch();
    await told.processWorkBatch();
    const rows = await rowsOf(
      'select instance_id, service_name, host_name, process_id, metadata from wh_service_instances order by service_name',
    );
    expect(rows).toMatchObject([
      { ...snaked(plain), service_name: 'orders', host_name: hostname(), process_id: process.pid },
      { ...snaked(told), service_name: 'x', host_name: 'h', process_id: 3, metadata: { zone: 'a' } },
    ]);
  });

  it('the coordinator sends its own options unless the request has them', async () => {
    const it = coordinator({ partitionCount: 7, staleThresholdSeconds: 33 });
    await it.processWorkBatch({ staleThresholdSeconds: 44, partitionCount: undefined });
    expect(await rowsOf('select partition_count, stale_threshold_seconds from wh_service_instances')).toEqual(
      [{ partition_count: 7, stale_threshold_seconds: 44 }],
    );
  });

  it('the coordinator works in the schema that is named, whatever the search path is', async () => {
    await migrate({ pool: db.pool, schema: 'Side "A"' });
    const it = coordinator({ schema: 'Side "A"' });
    const message = outboxMessage();
    expect(ids((await it.processWorkBatch({ newOutboxMessages: [message] })).outbox)).toEqual([
      message.messageId,
    ]);
    expect(await rowsOf('select count(*)::int as n from whizbang.wh_outbox')).toEqual([{ n: 0 }]);
    expect(await rowsOf('select count(*)::int as n from "Side ""A""".wh_outbox')).toEqual([{ n: 1 }]);
  });

  it('another instance gets the work of an instance that deregisters, at once', async () => {
    const [leaver, stayer] = [coordinator(), coordinator()];
    const messages = [outboxMessage(), outboxMessage(), inboxMessage()] as const;
    await leaver.processWorkBatch({
      newOutboxMessages: messages.slice(0, 2) as never,
      newInboxMessages: [messages[2]],
    });
    expect((await stayer.processWorkBatch()).outbox).toEqual([]);
    expect(await leaver.deregister()).toBe(3);
    const batch = await stayer.processWorkBatch({ takeoverSeconds: 0 });
    expect([...ids(batch.outbox), ...ids(batch.inbox)].sort()).toEqual(ids(messages).sort());
    expect(await leaver.deregister()).toBe(0);
  });
});

describe('A transaction of the caller', () => {
  const store = (message = outboxMessage()): WorkBatchRequest => ({
    newOutboxMessages: [message],
    maxOutboxItems: 0,
  });

  it('a call in a transaction of the caller is committed or rolled back with it', async () => {
    const it = coordinator();
    const client = await db.connect();
    for (const end of ['rollback', 'commit']) {
      await client.query('begin');
      await it.processWorkBatch(store(), client);
      expect(await rowsOf('select count(*)::int as n from wh_outbox')).toEqual([{ n: 0 }]);
      await client.query(end);
    }
    expect(await rowsOf('select count(*)::int as n from wh_outbox')).toEqual([{ n: 1 }]);
  });

  it('a transaction of the caller can be anything with query(text, values)', async () => {
    const client = await db.connect();
    const adapter = {
      query: async (text: string, values?: unknown[]) => ({ rows: (await client.query(text, values)).rows }),
    };
    const it = new WorkCoordinator({ client: adapter, instance: { serviceName: 'orders' } });
    const message = outboxMessage();
    expect(ids((await it.processWorkBatch({ newOutboxMessages: [message] })).outbox)).toEqual([
      message.messageId,
    ]);
    expect(await it.deregister()).toBe(1);
  });

  it('a batch is decoded alike when the driver parses types in its own way', async () => {
    const client = await db.connect();
    client.setTypeParser(20, () => 'int8 parsed');
    client.setTypeParser(23, () => 'int4 parsed');
    client.setTypeParser(1184, () => 'timestamptz parsed');
    client.setTypeParser(3802, () => 'jsonb parsed');
    const it = new WorkCoordinator({ client, instance: { serviceName: 'orders' } });
    const { outbox } = await it.processWorkBatch({ newOutboxMessages: [outboxMessage()] });
    expect(outbox).toMatchObject([{ eventData: { n: 1 }, status: 1, sequenceOrder: expect.any(BigInt) }]);
    expect(outbox[0]?.leaseExpiry.getTime()).toBeGreaterThan(Date.now());
  });
});

function snaked({ instance }: WorkCoordinator) {
  return { instance_id: instance.instanceId };
}
