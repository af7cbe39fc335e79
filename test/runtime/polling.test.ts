import { expect, it } from 'vitest';
import { inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

it('an instance that polls looks again soon after work, long before its poll interval', async () => {
  await using db = await createTestDatabase();
  const steps: number[] = [];
  const onPlaced = receptor(OrderPlaced, ({ step }) => {
    steps.push(step);
  });
  await arrive(db, 'OrderPlaced', { orderId: 'a', step: 1 });
  await using shop = service(db, {
    receptors: [onPlaced],
    transport: inProcessTransport(),
    listen: false,
    pollIntervalMs: 60_000,
  });
  const idle = new Promise<void>((resolve) => shop.on('idle', resolve));
  await shop.start();
  await idle;
  await arrive(db, 'OrderPlaced', { orderId: 'b', step: 2 });
  await eventually(() => expect(steps).toEqual([1, 2]));
});
