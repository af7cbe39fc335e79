import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CoordinatorOptions, MessageProcessingStatus, WorkCoordinator } from '../../src/coordination.js';
import { newMessageId } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { outboxMessage } from './new-messages.js';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js';

let db: TestDatabase;
let proxy: TcpProxy;
let pool: pg.Pool;
beforeEach(async () => {
  db = await createTestDatabase();
  proxy = await startTcpProxy(db.connectionString);
  pool = new pg.Pool({ connectionString: proxy.connectionString });
});
afterEach(async () => {
  await pool.end();
  await proxy[Symbol.asyncDispose]();
  await db.drop();
});

const coordinator = (more: Partial<CoordinatorOptions> = {}) =>
  new WorkCoordinator({
    pool,
    instance: { serviceName: 'orders' },
    retryDelayMs: 5,
    ...more,
  } as CoordinatorOptions);
const count = async (table: string) =>
  (await db.pool.query(`select count(*)::int as n from ${table}`)).rows[0].n;

/** Makes the first calls fail inside the database. A sequence counts the tries, also those rolled back. */
async function failFirst(calls: number, action: string): Promise<() => Promise<number>> {
  await db.pool.query(`
    create sequence tries;
    create function fail_first() returns trigger language plpgsql security definer as $$
    begin
      if nextval('public.tries') <= ${calls} then ${action}; end if;
      return new;
    end $$;
    create trigger fail_first before insert on wh_service_instances for each row execute function fail_first()`);
  return async () => Number((await db.pool.query('select last_value from tries')).rows[0].last_value);
}
const serialization = `raise exception using errcode = '40001', message = 'could not serialize access'`;

describe('A call over a pool', () => {
  it('a call over a pool is retried after a serialization failure', async () => {
    const tries = await failFirst(2, serialization);
    const { outbox } = await coordinator().processWorkBatch({ newOutboxMessages: [outboxMessage()] });
    expect(outbox).toHaveLength(1);
    expect(await tries()).toBe(3);
  });

  it('a call over a pool is retried after a deadlock', async () => {
    // It looks once, so long after it began to wait: the circle has to be closed by then, also on a busy machine.
    await db.pool.query(`alter database ${db.name} set deadlock_timeout = '4s'`);
    const it = coordinator();
    const [low, high] = [newMessageId(), newMessageId()];
    const messages = [low, high].map((streamId) => outboxMessage({ streamId }));
    await it.processWorkBatch({ newOutboxMessages: messages });
    const other = await db.connect();
    const lock = (streamId: string) =>
      other.query('select from wh_active_streams where stream_id = $1 for update', [streamId]);
    await other.query(`begin; set local deadlock_timeout = '60s'`);
    await lock(high);
    let borrowed = 0;
    pool.on('acquire', () => borrowed++);
    const call = it.processWorkBatch({
      outboxCompletions: messages.map(({ messageId }) => ({
        messageId,
        status: MessageProcessingStatus.Published,
      })),
    });
    await untilSomebodyWaits(db.pool);
    await lock(low); // closes the circle; the call, whose check comes first, is the one that is rolled back
    await other.query('commit');
    expect((await call).leaseLost).toEqual([]);
    expect(await count('wh_outbox')).toBe(0);
    expect(borrowed).toBe(2);
  });

  it('a call over a pool is retried when no connection could be opened', async () => {
    proxy.hangUpOn = 2;
    const { outbox } = await coordinator().processWorkBatch({ newOutboxMessages: [outboxMessage()] });
    expect(outbox).toHaveLength(1);
    expect(proxy.accepted).toBe(3);
  });

  it('a call over a pool is given up after the number of retries that the option allows', async () => {
    const tries = await failFirst(100, serialization);
    await expect(coordinator({ maxRetries: 2 }).processWorkBatch()).rejects.toMatchObject({
      code: 'SERIALIZATION',
    });
    expect(await tries()).toBe(3);
    proxy.hangUpOn = 100;
    const asked = proxy.accepted;
    await pool.end();
    pool = new pg.Pool({ connectionString: proxy.connectionString });
    await expect(coordinator({ maxRetries: 0 }).processWorkBatch()).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
    });
    expect(proxy.accepted).toBe(asked + 1);
  });

  it('a call over a pool is not retried after an error that a retry would meet again', async () => {
    const tries = await failFirst(100, `raise exception using errcode = '23514', message = 'no'`);
    await expect(coordinator().processWorkBatch()).rejects.toMatchObject({
      code: 'DATABASE_ERROR',
      details: { sqlState: '23514' },
    });
    expect(await tries()).toBe(1);
  });
});

describe('A call over a client or transaction of the caller', () => {
  it('a call over a client or a transaction of the caller is never retried', async () => {
    const tries = await failFirst(100, serialization);
    const client = await db.connect();
    const error = { code: 'SERIALIZATION', retryable: true };
    await expect(coordinator().processWorkBatch({}, client)).rejects.toMatchObject(error);
    await expect(coordinator({ client, pool: undefined } as never).processWorkBatch()).rejects.toMatchObject(
      error,
    );
    expect(await tries()).toBe(2);
  });
});

describe('A connection that is lost in the middle of a call', () => {
  it('a call whose connection is lost in the middle is not retried, and reports CONNECTION_LOST', async () => {
    const tries = await failFirst(100, 'perform pg_terminate_backend(pg_backend_pid())');
    await expect(coordinator().processWorkBatch()).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      retryable: false,
      details: { sqlState: '57P01' },
    });
    expect(await tries()).toBe(1);
  });

  it('a call whose connection is lost may be committed, and its messages can be sent again', async () => {
    const gate = await db.connect();
    await gate.query('select pg_advisory_lock(1)');
    await failFirst(1, 'perform pg_advisory_xact_lock(1)');
    const it = coordinator();
    const request = { newOutboxMessages: [outboxMessage()] };
    const call = it.processWorkBatch(request).catch((error: unknown) => error);
    await untilSomebodyWaits(db.pool);
    proxy.cut();
    expect(await call).toMatchObject({ code: 'CONNECTION_LOST', hint: expect.stringContaining('same ids') });
    await gate.query('select pg_advisory_unlock(1)');
    await untilCommitted();
    await it.processWorkBatch(request);
    expect(await count('wh_outbox')).toBe(1);
  });

  it('an idle connection that breaks fails no later call', async () => {
    const it = coordinator();
    await it.processWorkBatch();
    expect(pool.listenerCount('error')).toBe(1); // without one the process would end
    const broken = new Promise((resolve) => pool.once('error', resolve));
    proxy.cut();
    await broken;
    await expect(it.processWorkBatch()).resolves.toMatchObject({ leaseLost: [] });
  });
});

async function untilSomebodyWaits(observer: pg.Pool): Promise<void> {
  for (;;) {
    const { rows } = await observer.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
    await observer.query('select pg_sleep(0.01)');
  }
}

async function untilCommitted(): Promise<void> {
  while ((await count('wh_outbox')) === 0) await db.pool.query('select pg_sleep(0.01)');
}
