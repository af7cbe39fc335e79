import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { inProcessTransport, newMessageId, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { deadLetters } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const day = 24 * 60 * 60 * 1000;

afterEach(() => vi.useRealTimers());

/** Its own patience is measured by the clock that does not jump. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('it did not come true');
    await pause(5);
  }
}

it('a clock that jumps by days, to and fro, costs no lease, no order and no delay', async () => {
  await using db = await createTestDatabase();
  const started = Date.now();
  vi.useFakeTimers({ toFake: ['Date'] });
  let jumps = 0;
  const jump = setInterval(() => vi.setSystemTime(started + (++jumps % 2 === 0 ? day : -day)), 20);
  const lost: unknown[] = [];
  const steps: number[] = [];
  const later: string[] = [];
  const onPlaced = receptor(
    OrderPlaced,
    { alone: true, retry: { firstDelaySeconds: 0.02 } },
    async ({ step }, ctx) => {
      await pause(20);
      if (step % 5 === 0 && ctx.attempt === 1) throw new Error('once');
      steps.push(step);
    },
  );
  const onPlace = receptor(PlaceOrder, ({ orderId }) => void later.push(orderId));
  await using shop = service(db, {
    receptors: [onPlaced, onPlace],
    transport: inProcessTransport(),
  });
  shop.on('leaseLost', (messages) => lost.push(...messages));
  await shop.start();
  const count = 80; // for many jumps
  await shop.publish(Array.from({ length: count }, (_, i) => OrderPlaced({ orderId: 'a', step: i + 1 })));
  await shop.send(PlaceOrder({ orderId: 'later' }), { delaySeconds: 0.5 });
  const ids = Array.from({ length: 500 }, () => newMessageId());
  expect([...ids].sort()).toEqual(ids);
  await until(() => steps.length >= count);
  await until(() => later.length === 1);
  await shop.stop();
  clearInterval(jump);
  expect(jumps).toBeGreaterThan(2);
  expect(steps).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  expect(lost).toEqual([]);
  expect(await deadLetters(db)).toEqual([]);
  const { rows } = await db.pool.query('select 1 from wh_inbox union all select 1 from wh_outbox');
  expect(rows).toEqual([]);
});
