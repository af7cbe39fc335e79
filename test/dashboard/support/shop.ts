// The live system behind the page: instances of a shop as processes of their own, which can be killed.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { streamIdOf } from '../../../src/index.js';
import { bundled } from '../../support/bundled.js';
import type { TestDatabase } from '../../support/database.js';
import { type createShop, evil, PlaceOrder } from './shop-instance.js';

export async function startInstance(connectionString: string): Promise<ChildProcess> {
  const program = bundled(new URL('./shop-program.ts', import.meta.url));
  const child = fork(program, [connectionString], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return child;
}

/** Orders that are handled, that fail, that wait for their time, and that nobody handles. */
export async function fill(shop: ReturnType<typeof createShop>, db: TestDatabase): Promise<void> {
  const orders = Array.from({ length: 200 }, (_, n) => PlaceOrder({ orderId: `order-${n % 80}` }));
  await shop.send(orders);
  await shop.send([1, 2, 3].map((n) => PlaceOrder({ orderId: `${evil} ${n}`, fails: true })));
  await db.pool.query(
    `insert into wh_inbox (message_id, handler_name, event_type, event_data, stream_id)
     values (gen_random_uuid(), 'ShipOrder', 'ShipOrder', '{}', $1)`,
    [streamIdOf('nobody-ships')],
  );
  await shop.send(PlaceOrder({ orderId: 'later' }), { delaySeconds: 3_600 });
}
