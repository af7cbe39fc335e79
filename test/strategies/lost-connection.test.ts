// The connection breaks during a call, before or after the server has done it. What is sent again must end up once.
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WorkCoordinator } from '../../src/coordinator/index.js';
import type { WhizbangError } from '../../src/errors.js';
import { MessageProcessingStatus as Status } from '../../src/message.js';
import { createStrategy } from '../../src/strategies/index.js';
import { startTcpProxy, type TcpProxy } from '../coordinator/tcp-proxy.js';
import { openSession } from '../support/sessions.js';
import { numbered, openWorkbench, range, type Workbench } from './workbench.js';

let bench: Workbench;
let proxy: TcpProxy;
let pool: pg.Pool;
let coordinator: WorkCoordinator;
beforeEach(async () => {
  bench = await openWorkbench();
  proxy = await startTcpProxy(bench.db.connectionString);
  pool = new pg.Pool({ connectionString: proxy.connectionString, max: 1 });
  coordinator = new WorkCoordinator({ pool, instance: { serviceName: 'orders' } });
  await coordinator.processWorkBatch({ maxOutboxItems: 0 }); // so that a connection is there to be lost
});
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  await pool.end();
  await bench[Symbol.asyncDispose]();
});

describe('The answer to a call is lost', () => {
  it('messages whose answer was lost are sent again, and are stored once, in order', async () => {
    await using strategy = createStrategy('scoped', { coordinator });
    for (const n of range(1, 5)) strategy.queueOutboxMessage(numbered(n));
    proxy.loseAnswers = 1;
    await expect(strategy.flush()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(await bench.stored()).toEqual(range(1, 5)); // the server had done it
    for (const n of range(6, 8)) strategy.queueOutboxMessage(numbered(n));
    await strategy.flush();
    expect(await bench.stored()).toEqual(range(1, 8));
  });

  it('a completion whose answer was lost is sent again, and comes back as lost', async () => {
    await using strategy = createStrategy('scoped', { coordinator });
    strategy.queueOutboxMessage(numbered(1));
    const [item] = (await strategy.flush()).outbox;
    const messageId = item?.messageId ?? '';
    const completion = strategy.queueOutboxCompletion({ messageId, status: Status.Published });
    proxy.loseAnswers = 1;
    await expect(strategy.flush()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(await bench.stored()).toEqual([]);
    expect((await strategy.flush()).leaseLost).toEqual([{ source: 'outbox', messageId }]);
    await completion.carried;
  });

  it.each(['immediate', 'interval'] as const)(
    'the %s strategy tries again by itself when the answer to a call is lost',
    async (name) => {
      const errors: WhizbangError[] = [];
      const onError = (error: WhizbangError) => errors.push(error);
      await using strategy = createStrategy(name, { coordinator, onError, intervalMs: 5 });
      proxy.loseAnswers = 1;
      const queued = range(1, 5).map((n) => strategy.queueOutboxMessage(numbered(n)));
      await Promise.all(queued.map(({ carried }) => carried));
      expect(errors).toMatchObject([{ code: 'CONNECTION_LOST' }]);
      expect(await bench.stored()).toEqual(range(1, 5));
    },
  );
});

describe('The connection is cut during a call', () => {
  it('a connection that is cut during a call loses and doubles nothing, and keeps the order', async () => {
    await using strategy = createStrategy('immediate', { coordinator, onError: () => {} });
    const { client, pid } = await openSession(bench.db);
    await client.query('begin; lock table wh_outbox in access exclusive mode');
    const first = strategy.queueOutboxMessage(numbered(1));
    while ((await blockedBy(pid)) === 0) await Promise.resolve();
    const others = range(2, 9).map((n) => strategy.queueOutboxMessage(numbered(n)));
    proxy.cut();
    await client.query('rollback'); // the first call may still be committed now, or find its client gone
    await Promise.all([first, ...others].map(({ carried }) => carried));
    expect(await bench.stored()).toEqual(range(1, 9));
  });

  it('a connection that the server ends during a call loses and doubles nothing', async () => {
    await using strategy = createStrategy('immediate', { coordinator, onError: () => {} });
    const { client, pid } = await openSession(bench.db);
    await client.query('begin; lock table wh_outbox in access exclusive mode');
    const first = strategy.queueOutboxMessage(numbered(1));
    while ((await blockedBy(pid)) === 0) await Promise.resolve();
    const second = strategy.queueOutboxMessage(numbered(2));
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
      [pid],
    );
    await client.query('rollback');
    await Promise.all([first.carried, second.carried]);
    expect(await bench.stored()).toEqual([1, 2]);
  });
});

async function blockedBy(holder: number): Promise<number> {
  const { rowCount } = await bench.db.pool.query(
    'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
    [holder],
  );
  return rowCount ?? 0;
}
