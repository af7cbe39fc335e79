import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { EventStore, StoreAccess, SubjectKeys } from '../../src/events/index.js';
import { silentLogger } from '../../src/logger.js';
import { newMessageId } from '../../src/message-id.js';
import { Order, OrderPaid, paid, placed } from '../events/shop.js';
import { Customer, email, signedUp } from '../keeping/customers.js';
import type { World } from './world.js';

const noPool = { connect: () => Promise.reject(new Error('There is no pool in these tests.')) };
const access = new StoreAccess({ pool: noPool, schema: 'whizbang' });
const keys = new SubjectKeys(access);
const sender = { service: 'orders', instanceId: newMessageId(), sealer: keys };
const store = new EventStore({ access, keys, sender, logger: silentLogger });

async function versionsIn(world: World): Promise<unknown[]> {
  const text = 'select event_type, version::int as version from wh_event_store order by sequence_number';
  return (await world.db.query(text)).rows;
}

export function describeAppending(world: World): void {
  describe('the event store', () => {
    it('an append is committed with the transaction', async () => {
      const orderId = randomUUID();
      const receipt = await world.library.transaction(async (tx, own) => {
        await own.insertOrder(orderId);
        await store.append(placed(orderId), { tx: tx as object, expectedVersion: 0 });
        return store.append([paid(orderId), paid(orderId)], { tx: tx as object });
      });
      expect(receipt).toMatchObject({ streamId: orderId, version: 3 });
      expect(receipt.receipts.map(({ version }) => version)).toEqual([2, 3]);
      expect(await world.countOf('orders')).toBe(1);
      expect(await versionsIn(world)).toEqual([
        { event_type: 'OrderPlaced', version: 1 },
        { event_type: 'OrderPaid', version: 2 },
        { event_type: 'OrderPaid', version: 3 },
      ]);
    });

    it('an append with a sealed field gets its key in the transaction, and is read in it', async () => {
      const customerId = randomUUID();
      await world.library.transaction(async (tx) => {
        await store.append(signedUp(customerId), { tx: tx as object });
        const { state } = await store.load(Customer, customerId, { tx: tx as object });
        expect(state.email).toBe(email);
      });
      const { rows } = await world.db.query('select subject from wh_subject_keys');
      expect(rows).toContainEqual({ subject: customerId });
    });

    it('an append of a transaction that rolls back leaves nothing', async () => {
      const orderId = randomUUID();
      const failed = world.library.transaction(async (tx) => {
        await store.append(placed(orderId), { tx: tx as object });
        throw new Error('rolled back');
      });
      await expect(failed).rejects.toThrow('rolled back');
      expect(await versionsIn(world)).toEqual([]);
    });

    it('an append works in a serializable transaction', async () => {
      const orderId = randomUUID();
      await world.library.transaction((tx) => store.append(placed(orderId), { tx: tx as object }), {
        serializable: true,
      });
      expect(await versionsIn(world)).toHaveLength(1);
    });

    it('a conflict has both versions', async () => {
      const orderId = randomUUID();
      const failed = world.library.transaction(async (tx) => {
        await store.append(placed(orderId), { tx: tx as object });
        await store.append(paid(orderId), { tx: tx as object, expectedVersion: 0 });
      });
      await expect(failed).rejects.toMatchObject({
        code: 'EXPECTED_VERSION',
        details: { streamId: orderId, expectedVersion: 0, actualVersion: 1 },
      });
      expect(await versionsIn(world)).toEqual([]);
    });

    it('a decision sees what its transaction has appended, and reads it back', async () => {
      const orderId = randomUUID();
      const seen = await world.library.transaction(async (given) => {
        const tx = given as object;
        await store.append(placed(orderId, 250), { tx });
        await store.decide(Order, orderId, ({ cents }) => paid(orderId, cents), { tx });
        const payments: unknown[] = [];
        for await (const event of store.stream(orderId, { tx })) {
          if (event.is(OrderPaid)) payments.push(event.payload);
        }
        return { payments, loaded: await store.load(Order, orderId, { tx }) };
      });
      expect(seen).toEqual({
        payments: [{ orderId, cents: 250, paidAt: new Date('2026-11-17T08:00:00Z') }],
        loaded: { state: { status: 'paid', cents: 250, changes: 2 }, version: 2 },
      });
    });
  });
}
