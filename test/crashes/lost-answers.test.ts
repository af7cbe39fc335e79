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
  it('a handler is not run again when the answer to its commit is lost', async () => {
    await using network = await shopOverNetwork();
    const { orders, proxy, runs } = network;
    const cut = proxy.loseAnswer(commit);
    await orders.place(3);
    await cut;
    await orders.expectFaultless();
    expect(runs).toEqual([1, 2, 3]);
  });

  it('a handler whose commit is lost is run again and takes effect once', async () => {
    await using network = await shopOverNetwork();
    const { orders, proxy, runs } = network;
    const cut = proxy.loseQuestion(commit);
    await orders.place(3);
    await cut;
    await orders.expectFaultless();
    expect(runs).toEqual([1, 1, 2, 3]);
  });

  it('a handler is run again and takes effect once when the answer to its completion is lost', async () => {
    await using network = await shopOverNetwork();
    const { orders, proxy, runs } = network;
    const cut = proxy.loseAnswer(callWith('inboxCompletions', 'newOutboxMessages'));
    await orders.place(3);
    await cut;
    await orders.expectFaultless();
    expect(runs).toEqual([1, 1, 2, 3]);
  });

  it.each(['outbox', 'inbox'])(
    'work of the %s that is handed out in a lost answer comes back when the lease ends',
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
    'a transfer to the inbox that loses its %s delivers each message once',
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
    'a sender whose call loses its %s is told, and may send again under the same id',
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
