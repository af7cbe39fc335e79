import { expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { packageVersion } from '../../src/version.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { PlaceOrder, service } from './service.js';

it('an instance says which version it runs, what it can handle and how much it has done', async () => {
  await using db = await createTestDatabase();
  let failures = 2;
  const handles = receptor(PlaceOrder, { retry: { firstDelaySeconds: 0.01 } as never }, () => {
    if (failures-- > 0) throw new Error('not yet');
  });
  await using shop = service(db, { receptors: [handles] });
  await shop.start();
  for (let step = 0; step < 5; step++) await shop.send(PlaceOrder({ orderId: `${step}`, step }));
  await eventually(async () => {
    const { rows } = await db.pool.query(
      'select version, handled::int, failed::int, calls::int > 0 as calls, handlers, is_stale from wh_instances',
    );
    expect(rows).toEqual([
      {
        version: packageVersion,
        handled: 5,
        failed: 2,
        calls: true,
        handlers: expect.arrayContaining(['PlaceOrder']),
        is_stale: false,
      },
    ]);
  });
});
