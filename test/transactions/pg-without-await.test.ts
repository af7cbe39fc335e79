import { expect, it } from 'vitest';
import { OrderPlaced, service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';

it.each(['rollback', 'commit'])(
  'publish that is not awaited stores nothing when a %s comes before it',
  async (end) => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const client = await db.connect();
    try {
      await client.query('begin');
      const sending = shop.publish(OrderPlaced({ orderId: 'a' }), { tx: client });
      const refused = expect(sending).rejects.toMatchObject({
        code: 'UNKNOWN_TRANSACTION',
        message: expect.stringContaining('nothing was stored'),
        hint: expect.stringContaining('Await the call that sends the message'),
      });
      await client.query(end);
      await refused;
      expect((await db.pool.query('select 1 from wh_outbox')).rows).toEqual([]);
    } finally {
      await client.end();
    }
  },
);

it('publish stores beside other statements of the transaction that are under way', async () => {
  await using db = await createTestDatabase();
  await using shop = service(db);
  const client = await db.connect();
  await client.query('begin');
  await Promise.all([
    client.query('select pg_sleep(0.05)'),
    shop.publish(OrderPlaced({ orderId: 'a' }), { tx: client }),
    client.query('select 1'),
  ]);
  expect((await db.pool.query('select 1 from wh_outbox')).rows).toEqual([]);
  await client.query('commit');
  expect((await db.pool.query('select 1 from wh_outbox')).rows).toHaveLength(1);
  await client.end();
});
