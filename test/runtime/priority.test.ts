import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const steps = [0, 1, 0, 9, -3];
const byPriority = [9, 1, 0, 0, -3];
const oneHand = { concurrency: 1 };

/** A service with one hand that notes the steps of the orders it handles. */
function noting(handled: number[]) {
  return receptor(PlaceOrder, async ({ step }) => void handled.push(step));
}

describe('A message with a priority', () => {
  it('messages that wait are handled by their priority, straight from the inbox', async () => {
    await using db = await createTestDatabase();
    const handled: number[] = [];
    await using shop = service(db, { receptors: [noting(handled)], ...oneHand });
    for (const step of steps) {
      await shop.send(PlaceOrder({ orderId: crypto.randomUUID(), step }), { priority: step, to: 'shop' });
    }
    await shop.start();
    await eventually(() => expect(handled).toEqual(byPriority));
  });

  it.each([
    { across: 'instance', key: undefined },
    { across: 'instances', key: undefined },
    { across: 'instances', key: () => 'acme' },
  ] as const)('messages that wait at a limit are handled by their priority: $across $key', async (where) => {
    await using db = await createTestDatabase();
    const handled: number[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const onPlace = receptor(PlaceOrder, { concurrency: 1, ...where }, async ({ step }) => {
      if (step === 100) await released;
      handled.push(step);
    });
    await using shop = service(db, { receptors: [onPlace] });
    await shop.start();
    for (const step of [100, ...steps]) {
      await shop.send(PlaceOrder({ orderId: crypto.randomUUID(), step }), { priority: step });
    }
    await eventually(async () => {
      const { rows } = await db.pool.query('select 1 from wh_active_streams where waits_for is not null');
      expect(rows).toHaveLength(steps.length);
    });
    release();
    await eventually(() => expect(handled).toEqual([100, ...byPriority]));
  });

  it('a priority holds in a transaction, in a scope and for many messages in one call', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const client = await db.pool.connect();
    await client.query('begin');
    await shop.publish(OrderPlaced({ orderId: 'a' }), { priority: 1, tx: client });
    await client.query('commit');
    client.release();
    {
      await using scope = shop.scope();
      await scope.publish(OrderPlaced({ orderId: 'b' }), { priority: 2 });
    }
    await shop.publish([OrderPlaced({ orderId: 'c' }), OrderPlaced({ orderId: 'd' })], { priority: 3 });
    await shop.publish(OrderPlaced({ orderId: 'e' }), { priority: 0 });
    const { rows } = await db.pool.query('select priority from wh_outbox order by sequence_order');
    expect(rows.map(({ priority }) => priority)).toEqual([1, 2, 3, 3, null]);
  });

  it('a timer keeps its priority when it fires', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.publish(OrderPlaced({ orderId: 'a' }), { priority: 4, delaySeconds: 3600 });
    await db.pool.query(`update wh_timers set due_at = now() - interval '1 second'`);
    await db.pool.query('select * from wh_fire_timers()');
    expect((await db.pool.query('select priority from wh_outbox')).rows).toEqual([{ priority: 4 }]);
  });

  it('a priority travels with its message through a transport', async () => {
    await using db = await createTestDatabase();
    await using other = await createTestDatabase();
    const transport = inProcessTransport();
    await using shop = service(db, { transport });
    await using billing = service(other, {
      service: 'billing',
      transport,
      receptors: [receptor(OrderPlaced, { concurrency: 1 }, () => new Promise<void>(() => {}))],
    });
    await billing.start();
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }), { priority: 6 });
    await eventually(async () => {
      expect((await other.pool.query('select priority from wh_inbox')).rows).toEqual([{ priority: 6 }]);
    });
  });

  it.each([1.5, '7', 2_147_483_648, Number.NaN])(
    'the priority %s is refused by its name',
    async (priority) => {
      await using db = await createTestDatabase();
      await using shop = service(db);
      const options = { priority: priority as number };
      const refused = { code: 'INVALID_OPTION', details: { option: 'priority' } };
      await expect(shop.publish(OrderPlaced({ orderId: 'a' }), options)).rejects.toMatchObject(refused);
    },
  );
});
