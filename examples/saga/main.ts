// `npm run example:saga`: six orders, and what becomes of each. Three services on one PostgreSQL, here in one process; in
// production each is a program of its own, started as often as you like.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { migrate } from '../../src/index.js';
import { PayOrder, PlaceOrder } from './messages.js';
import { createPayments } from './payments.js';
import { createShop } from './shop.js';
import { createStock } from './stock.js';

const story = [
  { orderId: 'order-1', customer: 'Ada', sku: 'tea', pieces: 3, card: 'good' },
  { orderId: 'order-2', customer: 'Bob', sku: 'tea', pieces: 2, card: 'lame' }, // charged at the third attempt
  { orderId: 'order-3', customer: 'Cleo', sku: 'tea', pieces: 1, card: 'empty' }, // refused: an outcome
  { orderId: 'order-4', customer: 'Dan', sku: 'tea', pieces: 4, card: 'lost' }, // given up: no outcome
  { orderId: 'order-5', customer: 'Eve', sku: 'teapot', pieces: 9, card: 'good' }, // sold out
  { orderId: 'order-6', customer: 'Finn', sku: 'teapot', pieces: 1, card: null }, // pays when he is reminded
];

const database = process.env.DATABASE_URL ? undefined : await startEmbeddedPostgres();
const connectionString = process.env.DATABASE_URL ?? (database?.connectionString as string);
for (const schema of ['shop', 'stock', 'payments']) await migrate({ connectionString, schema });
const pool = new pg.Pool({ connectionString });
await pool.query(`
  create table orders (order_id text primary key, customer text, sku text, pieces int, card text, reminder uuid, state text);
  create table stock (sku text primary key, free int);
  insert into stock values ('tea', 10), ('teapot', 5)`);

let reminded = (): void => {};
const isReminded = new Promise<void>((resolve) => {
  reminded = resolve;
});
const mail = (text: string) => {
  console.log(`Mail to ${text}.`);
  reminded();
};
const shop = createShop(connectionString, { remindAfterSeconds: 3, mail });
const services = [shop, createStock(connectionString), createPayments(connectionString)];
await Promise.all(services.map((service) => service.start()));

await shop.send(story.map((order) => PlaceOrder(order)));
await isReminded;
await shop.send(PayOrder({ orderId: 'order-6', card: 'good' }));
await until(`select 1 from orders having count(*) filter (where state in ('placed', 'reserved')) = 0`);
await until(`select 1 from stock where sku = 'tea' and free = 5`);

for (const { order_id, state } of (await pool.query('select * from orders order by order_id')).rows) {
  console.log(`${order_id}: ${state}`);
}
for (const { sku, free } of (await pool.query('select * from stock order by sku')).rows) {
  console.log(`${sku}: ${free} free`);
}
console.log(`${(await shop.timers.list()).length} reminders are left`);

await Promise.all(services.map((service) => service.stop()));
await pool.end();
await database?.stop();

async function until(query: string): Promise<void> {
  while ((await pool.query(query)).rowCount === 0) await pause(20);
}
