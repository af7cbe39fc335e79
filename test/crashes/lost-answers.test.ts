import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { WhizbangOptions } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { patientTransport } from '../support/patient-transport.js';
import { callWith } from './support/call-with.js';
import { endLeases } from './support/end-leases.js';
import { startLossyProxy } from './support/lossy-proxy.js';
import { Orders } from './support/orders.js';
import { createShop, longLeases, PlaceOrder } from './support/shop.js';

const commit = /^commit$/i;
const call = /process_work_batch/;
const transfer = /wh_transfer/;

async function shopOverNetwork(options: Partial<WhizbangOptions> = {}) {
  const db = await createTestDatabase();
  const proxy = await startLossyProxy(db.connectionString);
  const runs: number[] = [];
  const shop = createShop(
    {
      connectionString: proxy.connectionString,
      concurrency: 1,
      groupSize: 1, // in company: shared-transactions.test.ts
      ...longLeases,
      ...options,
    } as WhizbangOptions,
    { onRun: (step) => runs.push(step) },
  );
  await shop.start();
  const orders = await Orders.of(db.pool, 1);
  return {
    db,
    proxy,
    shop,
    orders,
    runs,
    [Symbol.asyncDispose]: async () => {
      await shop.stop();
      await proxy[Symbol.asyncDispose]();
      await db.drop();
    },
  };
}

describe.concurrent('A connection that is cut', () => {
  it('after the commit of a handler has reached the server: it is not run again', async () => {
    await using network = await shopOverNetwork();
    const { orders, proxy, runs } = network;
    const cut = proxy.loseAnswer(commit);
    await orders.place(3);
    await cut;
    await orders.expectFaultless();
    expect(runs).toEqual([1, 2, 3]);
  });

  it('before the commit of a handler has reached the server: it is run again, and its effect is there once', async () => {
    await using network = await shopOverNetwork();
    const { orders, proxy, runs } = network;
    const cut = proxy.loseQuestion(commit);
    await orders.place(3);
    await cut;
    await orders.expectFaultless();
    expect(runs).toEqual([1, 1, 2, 3]);
  });

  it('after a handler was settled and before its answer: it is run again, and its effect is there once', async () => {
    await using network = await shopOverNetwork();
    const { orders, proxy, runs } = network;
    const cut = proxy.loseAnswer(callWith('inboxCompletions', 'newOutboxMessages'));
    await orders.place(3);
    await cut;
    await orders.expectFaultless();
    expect(runs).toEqual([1, 1, 2, 3]);
  });

  it.each(['outbox', 'inbox'])(
    'before the answer that hands out work of the %s: it comes back when the lease ends',
    async (source) => {
      await using network = await shopOverNetwork({ transport: patientTransport() });
      const { db, orders, proxy, runs } = network;
      const cut = proxy.loseAnswer(call, new RegExp(`${source}.*PlaceOrder`, 's'));
      await orders.place(3, patientTransport());
      await cut;
      const { rows } = await db.pool.query(
        `select 1 from wh_${source} where lease_expiry > clock_timestamp()`,
      );
      expect(rows).toHaveLength(3);
      await endLeases(db.pool);
      await orders.expectFaultless();
      expect(runs).toEqual([1, 2, 3]);
    },
  );

  it.each(['answer', 'question'] as const)(
    'at the transfer to the inbox, losing its %s: it is transferred once',
    async (what) => {
      await using network = await shopOverNetwork({ transport: patientTransport() });
      const { orders, proxy } = network;
      const cut = what === 'answer' ? proxy.loseAnswer(transfer) : proxy.loseQuestion(transfer);
      await orders.place(3, patientTransport());
      await cut;
      await orders.expectFaultless();
    },
  );

  it.each(['answer', 'question'] as const)(
    'while something is sent without a transaction, losing the %s: the sender is told, and may send it again under its id',
    async (what) => {
      await using network = await shopOverNetwork();
      const { db, orders, proxy, shop } = network;
      const stores = callWith('newOutboxMessages');
      const cut = what === 'answer' ? proxy.loseAnswer(stores) : proxy.loseQuestion(stores);
      const messageId = randomUUID();
      const send = () => shop.send(PlaceOrder({ orderId: 'order-0', step: 1 }), { messageId });
      await expect(send()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
      await cut;
      await endLeases(db.pool); // of what was handed out with the answer
      await send();
      orders.expectFurther(1);
      await orders.expectFaultless();
    },
  );
});
