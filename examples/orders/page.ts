// The page: what has become of the orders, what is left of the products, and a form for the next order. It reads nothing
// but the two perspectives.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import type pg from 'pg';
import { z } from 'zod';
import { type Html, html } from './html.js';
import { orders, place, type Shop } from './shop.js';
import { products, type Warehouse } from './warehouse.js';

interface Services {
  readonly shop: Shop;
  readonly warehouse: Warehouse;
  readonly pool: pg.Pool;
}

const centsOf: Readonly<Record<string, number>> = { tea: 350, teapot: 4200 };

export function createPage(services: Services): Server {
  return createServer((request, response) => {
    const answer = (status: number, body: Html) =>
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(body.text);
    respond(request, services).then(
      ({ status = 200, body }) => answer(status, body),
      (error: unknown) => answer(500, page('Something went wrong', html`<p>${String(error)}</p>`)),
    );
  });
}

interface Answer {
  readonly status?: number;
  readonly body: Html;
}

async function respond(request: IncomingMessage, services: Services): Promise<Answer> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const [, folder, orderId = ''] = pathname.split('/');
  if (request.method === 'POST' && pathname === '/orders') return takeOrder(request, services);
  if (folder === 'orders') return oneOrder(orderId, services);
  if (pathname === '/') return overview(services);
  return { status: 404, body: page('Not found', html``) };
}

const form = z.object({
  customer: z.string().trim().min(1),
  sku: z.enum(['tea', 'teapot']),
  pieces: z.coerce.number().int().positive(),
});

/** The answer shows the order that was just placed, whether or not the perspective has come to it. */
async function takeOrder(request: IncomingMessage, { shop, pool }: Services): Promise<Answer> {
  const { data } = form.safeParse(Object.fromEntries(new URLSearchParams(await text(request))));
  if (data === undefined) return { status: 400, body: page('This is not an order', html``) };
  const orderId = `order-${randomUUID().slice(0, 8)}`;
  const receipt = await place(shop, pool, {
    ...data,
    orderId,
    cents: data.pieces * (centsOf[data.sku] ?? 0),
  });
  const order = await shop.model(orders).get(orderId, { atLeast: receipt });
  const link = html`<p>It is ${order?.status ?? 'gone'}. <a href="/orders/${orderId}">See how it goes on</a></p>`;
  return { status: 201, body: page(`Thank you, ${data.customer}`, link) };
}

async function oneOrder(orderId: string, { shop }: Services): Promise<Answer> {
  const order = await shop.model(orders).get(orderId);
  if (order === null) return { status: 404, body: page(`There is no order ${orderId}`, html``) };
  return { body: page(orderId, html`<p>${order.pieces} ${order.sku}: ${order.reason ?? order.status}</p>`) };
}

async function overview({ shop, warehouse }: Services): Promise<Answer> {
  const [placed, stored] = await Promise.all([
    shop.model(orders).find({ orderBy: { orderId: 'asc' }, limit: 50 }),
    warehouse.model(products).find(),
  ]);
  const rows = placed.map(
    ({ model: { orderId, customer, pieces, sku, cents, status, reason } }) => html`
      <tr><td><a href="/orders/${orderId}">${orderId}</a></td><td>${customer}</td><td>${pieces} ${sku}</td>
      <td>${(cents / 100).toFixed(2)} €</td><td>${reason ?? status}</td></tr>`,
  );
  const stock = stored.map(
    ({ id, model: { free, reserved, shipped } }) => html`
      <tr><td>${id}</td><td>${free} free</td><td>${reserved} reserved</td><td>${shipped} shipped</td></tr>`,
  );
  const order = html`
    <form method="post" action="/orders">
      <input name="customer" placeholder="Your name" required> <input name="pieces" type="number" value="1" min="1">
      <select name="sku"><option>tea</option><option>teapot</option></select> <button>Order</button>
    </form>`;
  return {
    body: page(
      'The shop',
      html`${order}<h2>Orders</h2><table>${rows}</table><h2>Stock</h2><table>${stock}</table>`,
    ),
  };
}

const page = (title: string, content: Html) => html`<!doctype html>
  <html lang="en">
    <title>${title}</title>
    <style>body { font: 1rem/1.5 system-ui; margin: 2rem } td { padding-right: 1.5rem }</style>
    <p><a href="/">The shop</a></p>
    <h1>${title}</h1>
    ${content}
  </html>`;
