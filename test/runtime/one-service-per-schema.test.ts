import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { OrderPlaced, service } from './service.js';

const receptors = [receptor(OrderPlaced, () => {})];

describe('A second service in one schema', () => {
  it('a second service cannot start in a schema, and the error names the one that runs there', async () => {
    await using db = await createTestDatabase();
    await using shop = await service(db, { receptors }).start();
    for (const more of [{}, { transport: inProcessTransport() }]) {
      const billing = service(db, { service: 'billing', receptors, ...more });
      await expect(billing.start()).rejects.toMatchObject({
        code: 'SCHEMA_TAKEN',
        message: expect.stringContaining(`"shop", which runs on`),
        hint: expect.stringContaining('schema of its own'),
      });
    }
    expect(shop.readiness).toEqual({ database: true, transport: true });
    const { rows } = await db.pool.query('select service_name from wh_service_instances');
    expect(rows).toEqual([{ service_name: 'shop' }]);
    const { rows: addresses } = await db.pool.query('select address from wh_subscriptions order by 1');
    expect(addresses).toEqual([{ address: 'OrderPlaced' }, { address: 'shop' }]);
  });

  it('one of two services that start in a schema at once is refused', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { receptors });
    await using billing = service(db, { service: 'billing', receptors });
    const started = await Promise.allSettled([shop.start(), billing.start()]);
    const codes = started.map((each) => (each.status === 'rejected' ? each.reason.code : 'started'));
    expect(codes.sort()).toEqual(['SCHEMA_TAKEN', 'started']);
  });

  it('a second service may send without starting, and a new name may start after a stop', async () => {
    await using db = await createTestDatabase();
    const shop = await service(db, { receptors }).start();
    await using web = service(db, { service: 'web' });
    await web.publish(OrderPlaced({ orderId: 'a' }));
    await shop.stop();
    await using store = service(db, { service: 'store', receptors });
    await store.start();
  });
});
