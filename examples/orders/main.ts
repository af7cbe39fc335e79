// `npm run example:orders`: a shop and a warehouse, two services on one PostgreSQL, and a page that shows what they know.
// It takes three orders, prints what became of them, and serves the page until Ctrl-C.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { migrate } from '../../src/index.js';
import { type Order, StockDelivered } from './messages.js';
import { createPage } from './page.js';
import { createShop, orders, place } from './shop.js';
import { createWarehouse, products } from './warehouse.js';

const story: readonly Order[] = [
  { orderId: 'order-1', customer: 'Ada', sku: 'tea', pieces: 3, cents: 1050 },
  { orderId: 'order-2', customer: 'Bob', sku: 'tea', pieces: 8, cents: 2800 },
  { orderId: 'order-3', customer: 'Cleo', sku: 'teapot', pieces: 4, cents: 16800 },
];

const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
const database = process.env.DATABASE_URL ? undefined : await startEmbeddedPostgres();
const connectionString = process.env.DATABASE_URL ?? (database?.connectionString as string);
await migrate({ connectionString, schema: 'shop' });
await migrate({ connectionString, schema: 'warehouse' });

// Two services, here in one process. In production each is a program of its own, started as often as you like.
const shop = createShop(connectionString, (mail) => console.log(mail));
const warehouse = createWarehouse(connectionString);
await Promise.all([shop.start(), warehouse.start()]);

const pool = new pg.Pool({ connectionString });
if ((await shop.model(orders).get('order-1')) === null) await firstDay();

for (const { model } of await shop.model(orders).find({ orderBy: { orderId: 'asc' } })) {
  console.log(`${model.orderId}: ${model.pieces} ${model.sku} for ${model.customer}, ${model.status}`);
}
for (const { id, model } of await warehouse.model(products).find()) {
  console.log(`${id}: ${model.free} free, ${model.shipped} shipped`);
}

const page = createPage({ shop, warehouse, pool }).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
await once(page, 'listening');
console.log(`The page: http://127.0.0.1:${(page.address() as AddressInfo).port} (Ctrl-C ends it)`);

await ended;
page.close();
page.closeAllConnections();
await Promise.all([shop.stop(), warehouse.stop()]);
await pool.end();
await database?.stop();

async function firstDay(): Promise<void> {
  const delivered = await warehouse.events.append([
    StockDelivered({ sku: 'tea', pieces: 10 }),
    StockDelivered({ sku: 'teapot', pieces: 5 }),
  ]);
  await warehouse.model(products).waitFor(delivered, { timeoutSeconds: 60 });
  for (const order of story) {
    await place(shop, pool, order);
    await until(async () => ['shipped', 'cancelled'].includes(await statusOf(order)));
  }
  await until(async () =>
    (await warehouse.model(products).find()).every(({ model }) => model.reserved === 0),
  );
}

async function statusOf({ orderId }: Order): Promise<string> {
  return (await shop.model(orders).get(orderId))?.status ?? 'unknown';
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(20);
}
