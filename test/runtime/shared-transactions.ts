// What the tests of shared transactions start from: messages that wait for one place, a receptor that writes and sends, and what
// the tables hold in the end.
import { expect } from 'vitest';
import { z } from 'zod';
import type { Queryable } from '../../src/database/index.js';
import {
  defineEvent,
  inProcessTransport,
  type Receptor,
  type ReceptorContext,
  receptor,
  type WhizbangOptions,
} from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

export const OrderPaid = defineEvent('OrderPaid', {
  schema: z.object({ orderId: z.string() }),
  stream: ({ orderId }) => orderId,
});

export interface Order {
  readonly orderId: string;
  readonly step: number;
}

/** What it was given, in this order. The transaction of the pool is an object of its own each time. */
export class Runs {
  readonly orders: string[] = [];
  readonly transactions: unknown[] = [];

  add({ orderId, step }: Order, { tx }: { readonly tx: unknown }): void {
    this.orders.push(`${orderId}${step}`);
    this.transactions.push(tx);
  }

  /** Whether this transaction was also given to that one. */
  isShared(tx: unknown, id: string): boolean {
    return this.transactions[this.orders.indexOf(id)] === tx;
  }

  /** How many messages each transaction was given to. */
  get sizes(): number[] {
    return [...new Set(this.transactions)].map(
      (tx) => this.transactions.filter((each) => each === tx).length,
    );
  }
}

export type Handler = (order: Order, ctx: ReceptorContext<Queryable, Order>) => unknown;

/** Writes an effect and sends a message on, and then does the rest. */
export function placing(runs: Runs, rest: Handler = () => {}, options: object = {}): Receptor {
  return receptor(OrderPlaced, options, async (order, ctx) => {
    runs.add(order, ctx);
    await ctx.tx.query('insert into effects values ($1)', [`${order.orderId}${order.step}`]);
    await ctx.publish(OrderPaid({ orderId: order.orderId }), { delaySeconds: 3_600, holdStream: true });
    await rest(order, ctx);
  });
}

/** All of these wait before the instance starts; with one place, they are one group. */
export async function waiting(db: TestDatabase, ids: readonly string[]): Promise<Map<string, string>> {
  await db.pool.query('create table if not exists effects (id text unique deferrable initially deferred)');
  const messageIds = new Map<string, string>();
  for (const id of ids) {
    const order = { orderId: id.charAt(0), step: Number(id.slice(1)) };
    messageIds.set(id, await arrive(db, 'OrderPlaced', order));
  }
  return messageIds;
}

export function onePlace(db: TestDatabase, receptors: Receptor[], options: Partial<WhizbangOptions> = {}) {
  return service(db, { concurrency: 1, receptors, transport: inProcessTransport(), ...options });
}

async function idsIn(db: TestDatabase, text: string): Promise<unknown[]> {
  return (await db.pool.query({ text, rowMode: 'array' })).rows.flat();
}

export const effectsOf = (db: TestDatabase) => idsIn(db, 'select id from effects order by id');
export const leftIn = (db: TestDatabase) =>
  idsIn(
    db,
    `select concat(event_data ->> 'orderId', event_data ->> 'step') from wh_inbox order by sequence_order`,
  );
/** Whose stream each message is in that was sent. */
export const sentBy = (db: TestDatabase) =>
  idsIn(db, `select event_data ->> 'orderId' from wh_outbox order by 1`);

/** What takes long is not shared. On a machine that is busy with other tests it may be that there is no company: try again. */
export const inCompany = { retry: 3 };

/** Called before the tests of a file: the very first run of all this code takes long. */
export async function warmUp(): Promise<void> {
  await using db = await createTestDatabase();
  await waiting(db, ['a1', 'b1', 'c1', 'd1']);
  await using shop = onePlace(db, [placing(new Runs())]);
  await shop.start();
  await eventually(async () => expect(await leftIn(db)).toEqual([]));
}
