import { describe, expect, it } from 'vitest';
import type { WhizbangOptions } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { callWith } from './support/call-with.js';
import { endLeases } from './support/end-leases.js';
import { startLossyProxy } from './support/lossy-proxy.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';
import { createShop, longLeases } from './support/shop.js';

const steps = ['starting', 'begun', 'handled', 'settled', 'committed'];
const streamCount = 6;

describe.concurrent('A process that is killed while it handles several messages in one transaction', () => {
  it.each(steps)(
    'a kill at the step "%s" of the fourth message in a shared transaction loses and doubles nothing',
    async (step) => {
      await using db = await createTestDatabase();
      const orders = await Orders.of(db.pool, streamCount);
      await orders.place(2);
      const { connectionString } = db;
      const accident = { step, nth: 4, signal: 'SIGKILL' } as const;
      await using victim = await startProcess({ connectionString, leases: 'long', concurrency: 1, accident });
      expect(await victim.ended).toBe('SIGKILL');
      await endLeases(db.pool);
      await using survivor = createShop({ connectionString });
      await survivor.start();
      await orders.expectFaultless();
    },
  );
});

/** Everything waits when it starts, and there is one place: its transactions are shared. */
async function shopOverNetwork(options: Partial<WhizbangOptions> = {}) {
  const db = await createTestDatabase();
  const proxy = await startLossyProxy(db.connectionString);
  const orders = await Orders.of(db.pool, streamCount);
  await orders.place(2);
  const runs: string[] = [];
  /** The first time that a transaction is shared. */
  let share = () => {};
  const shared = new Promise<void>((resolve) => (share = resolve));
  let last: unknown;
  const shop = createShop(
    {
      connectionString: proxy.connectionString,
      concurrency: 1,
      retry: { attempts: 1 }, // what uses one up without being at fault is a dead letter
      ...longLeases,
      ...options,
    } as WhizbangOptions,
    {
      onRun: (step, orderId) => runs.push(`${orderId} ${step}`),
      work: async (tx) => {
        const { rows } = await tx.query('select pg_current_xact_id()::text as id');
        const { id } = rows[0] as { id: string };
        if (id === last) share();
        last = id;
      },
    },
  );
  return {
    db,
    proxy,
    shop,
    orders,
    runs,
    shared,
    [Symbol.asyncDispose]: async () => {
      await shop.stop();
      await proxy[Symbol.asyncDispose]();
      await db.drop();
    },
  };
}

/** A busy machine is too slow to share at first, and an accident has to meet a statement: there are more orders until it has. */
async function placeUntil(accident: Promise<unknown>, orders: Orders): Promise<void> {
  let isOver = false;
  const over = accident.then(() => (isOver = true));
  while (!isOver) {
    await Promise.race([over, orders.untilHandled(orders.effectCount)]);
    if (!isOver) await orders.place(2);
  }
}

const settling = callWith('inboxCompletions', 'newOutboxMessages');

describe.concurrent('A connection that is cut under several messages in one transaction', () => {
  it.each([
    ['before its commit has reached the server', 'question', /^commit$/i],
    ['after its commit has reached the server', 'answer', /^commit$/i],
    ['before its messages are settled', 'question', settling],
    ['after its messages were settled', 'answer', settling],
    ['in a handler', 'question', /pg_current_xact_id/],
  ] as const)(
    'a shared transaction whose connection is cut %s takes effect once',
    async (_, what, statement) => {
      await using network = await shopOverNetwork();
      const { orders, proxy, shop, shared } = network;
      const cut = shared.then(() =>
        what === 'answer' ? proxy.loseAnswer(statement) : proxy.loseQuestion(statement),
      );
      await shop.start();
      await placeUntil(cut, orders);
      await orders.expectFaultless();
    },
  );

  it('messages of a shared transaction are not run again when the answer to its commit is lost', async () => {
    await using network = await shopOverNetwork();
    const { orders, proxy, runs, shared, shop } = network;
    const cut = shared.then(() => proxy.loseAnswer(/^commit$/i));
    await shop.start();
    await placeUntil(cut, orders);
    await orders.expectFaultless();
    expect(new Set(runs).size).toBe(runs.length);
  });
});

describe.concurrent('A connection that falls silent under several messages in one transaction', () => {
  it.each([/^insert into effects/, settling, /^commit$/i])(
    'a shared transaction whose connection falls silent at %s takes effect once',
    async (statement) => {
      await using network = await shopOverNetwork({ leaseSeconds: 3, renewSeconds: 1, stopSeconds: 1 });
      const { orders, proxy, shop, shared } = network;
      const silence = shared.then(() =>
        proxy.silenceAt(statement, { loses: 'question', on: 'its connection' }),
      );
      await shop.start();
      await placeUntil(silence, orders);
      await orders.expectFaultless();
    },
  );
});
