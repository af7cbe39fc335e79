import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CoordinatorOptions, type WorkBatchRequest, WorkCoordinator } from '../../src/coordination.js';
import { newMessageId, type WhizbangErrorCode } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { inboxMessage, outboxMessage } from './new-messages.js';

let db: TestDatabase;
let coordinator: WorkCoordinator;
beforeEach(async () => {
  db = await createTestDatabase();
  coordinator = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'orders' } });
});
afterEach(() => db.drop());

const refused = (code: WhizbangErrorCode, details: object = {}) => ({ code, retryable: false, details });

describe('The database', () => {
  it.each<[string, object]>([
    ['p_lease_seconds', { leaseSeconds: -1 }],
    ['p_lease_seconds', { leaseSeconds: null }],
    ['p_max_outbox_items', { maxOutboxItems: -1 }],
    [
      'p_new_outbox_messages[1].message_id',
      { newOutboxMessages: [outboxMessage(), outboxMessage({ messageId: 'x' })] },
    ],
    ['p_new_outbox_messages[0].event_data', { newOutboxMessages: [outboxMessage({ eventData: null })] }],
    [
      'p_new_inbox_messages[0].stream_i_d',
      { newInboxMessages: [{ ...inboxMessage(), streamID: newMessageId() }] },
    ],
    [
      'p_outbox_completions[0].status',
      { outboxCompletions: [{ messageId: newMessageId(), status: 'done' }] },
    ],
    ['p_inbox_failures[0].message_id', { inboxFailures: [{ completedStatus: 0, error: 'e' }] }],
  ])('the database refuses a bad %s by its name, and applies nothing of the call', async (field, request) => {
    const call = coordinator.processWorkBatch(request as WorkBatchRequest);
    await expect(call).rejects.toMatchObject(refused('INVALID_REQUEST', { field, sqlState: 'WB001' }));
    const { rows } = await db.pool.query(
      'select (select count(*)::int from wh_outbox) as messages, (select count(*)::int from wh_service_instances) as instances',
    );
    expect(rows).toEqual([{ messages: 0, instances: 0 }]);
  });

  it('the database refuses a text that PostgreSQL cannot store', async () => {
    const call = coordinator.processWorkBatch({ newOutboxMessages: [outboxMessage({ eventData: 'a\0b' })] });
    await expect(call).rejects.toMatchObject(refused('INVALID_REQUEST', { sqlState: '22P05' }));
  });

  it('the database refuses an event whose stream is not at the expected version', async () => {
    const streamId = newMessageId();
    const event = { streamId, isEvent: true, eventType: 'OrderPlacedEvent' };
    await coordinator.processWorkBatch({
      newOutboxMessages: [outboxMessage({ ...event, expectedVersion: 0 })],
    });
    const call = coordinator.processWorkBatch({
      newOutboxMessages: [outboxMessage({ ...event, expectedVersion: 5 })],
    });
    await expect(call).rejects.toMatchObject({
      ...refused('EXPECTED_VERSION', { streamId, expectedVersion: 5, actualVersion: 1 }),
      retryable: true,
    });
  });

  it.each(['repeatable read', 'serializable'])(
    'the database refuses a call in a %s transaction',
    async (level) => {
      const client = await db.connect();
      await client.query(`begin isolation level ${level}`);
      await expect(coordinator.processWorkBatch({}, client)).rejects.toMatchObject(
        refused('ISOLATION_LEVEL'),
      );
    },
  );

  it('a call reports NOT_MIGRATED without a migration, and in a schema that does not exist', async () => {
    await using empty = await createTestDatabase({ template: 'empty' });
    await empty.pool.query('create schema whizbang');
    const instance = { serviceName: 'orders' };
    const unmigrated = new WorkCoordinator({ pool: empty.pool, instance });
    await expect(unmigrated.processWorkBatch()).rejects.toMatchObject(
      refused('NOT_MIGRATED', { sqlState: '42883' }),
    );
    await expect(unmigrated.deregister()).rejects.toMatchObject(refused('NOT_MIGRATED'));
    const misnamed = new WorkCoordinator({ pool: db.pool, instance, schema: 'nowhere' });
    await expect(misnamed.processWorkBatch()).rejects.toMatchObject(
      refused('NOT_MIGRATED', { sqlState: '3F000' }),
    );
  });

  it('a call reports whether the transaction of the caller had failed, was read-only, or timed out', async () => {
    const client = await db.connect();
    await client.query('begin');
    await client.query('select 1/0').catch(() => {});
    await expect(coordinator.processWorkBatch({}, client)).rejects.toMatchObject(
      refused('TRANSACTION_ABORTED'),
    );
    await client.query('rollback; begin read only');
    await expect(coordinator.processWorkBatch({}, client)).rejects.toMatchObject(
      refused('READ_ONLY_DATABASE'),
    );
    await client.query('rollback');
    const holder = await db.connect();
    await holder.query('begin; lock table wh_service_instances in access exclusive mode');
    await client.query(`set lock_timeout = '50ms'`);
    await expect(coordinator.processWorkBatch({}, client)).rejects.toMatchObject(
      refused('TIMEOUT', { sqlState: '55P03' }),
    );
  });
});

describe('The coordinator', () => {
  const make = (options: object) => () => new WorkCoordinator(options as CoordinatorOptions);
  const instance = { serviceName: 'orders' };
  const pool = { connect: () => Promise.reject(new Error('never called')) };

  it.each<[string, object]>([
    ['pool', { instance }],
    ['client', { instance, pool, client: { query: pool.connect } }],
    ['instance.serviceName', { pool, instance: {} }],
    ['instance.serviceName', { pool }],
    ['hostname', { pool, instance: { ...instance, hostname: 'h' } }],
    ['schema', { pool, instance, schema: 'pg_mine' }],
    ['leaseSeconds', { pool, instance, leaseSeconds: 0 }],
    ['leaseSecs', { pool, instance, leaseSecs: 5 }],
  ])('the coordinator refuses a wrong %s when it is made', (option, options) => {
    expect(make(options)).toThrow(
      expect.objectContaining(refused('INVALID_OPTION', expect.objectContaining({ option }))),
    );
  });

  it('the coordinator suggests the part of a request that was probably meant', async () => {
    const call = coordinator.processWorkBatch({ outboxCompletion: [] } as WorkBatchRequest);
    await expect(call).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      hint: 'Did you mean outboxCompletions?',
    });
  });

  it('the coordinator refuses an instance id that is not a UUID', async () => {
    const odd = new WorkCoordinator({ pool: db.pool, instance: { ...instance, instanceId: 'me' } });
    await expect(odd.processWorkBatch()).rejects.toMatchObject(
      refused('INVALID_REQUEST', { field: 'p_instance_id' }),
    );
  });
});
