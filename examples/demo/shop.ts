// The shop: takes orders step by step, a few steps in each transaction, and receives an event when an order
// is shipped.
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { createWhizbang, type Logger, receptor, streamIdOf } from '../../src/index.js';
import { failuresOf, OrderMoved, OrderShipped } from './messages.js';
import type { DemoOptions } from './options.js';
import { world } from './world.js';

/** The highest rate. It leaves time to watch the demo, and work to interrupt. */
const mostPerSecond = 300;
const leastSeconds = 4;
const everyRollback = 20;
/**
 * The part of all messages that is sent first. The rest is kept until the work of the killed instance is
 * taken over: the next interruption needs work, too. A little of the rest is sent earlier while the instance
 * that is to be killed has not yet been caught in a receptor.
 */
const firstPart = 0.6;
const trickleMs = 300;

export const createShop = (connectionString: string, logger: Logger) =>
  createWhizbang({
    service: 'shop',
    schema: world.shop,
    connectionString,
    logger,
    leaseSeconds: 4,
    renewSeconds: 1,
    takeoverSeconds: 1,
    receptors: [
      receptor(OrderShipped, async ({ orderId }, { tx, envelope }) => {
        await tx.query(`insert into ${world.shop}.shipped values ($1, $2)`, [envelope.messageId, orderId]);
      }),
    ],
  });

interface Step {
  readonly orderId: string;
  readonly step: number;
  readonly isLast: boolean;
}

/**
 * Stores all messages at a limited rate, and rolls some transactions back: their messages must never arrive.
 */
export async function takeOrders(
  shop: ReturnType<typeof createShop>,
  pool: pg.Pool,
  options: DemoOptions,
  { recovered, isCaught }: { readonly recovered: Promise<void>; readonly isCaught: () => boolean },
  signal: AbortSignal,
): Promise<void> {
  const perSecond = Math.min(mostPerSecond, options.messages / leastSeconds);
  const mayGoOn = Promise.race([recovered, endOf(signal)]);
  mayGoOn.catch(() => undefined); // it may reject before it is awaited
  let nextAt = performance.now();
  let stored = 0;
  let transactions = 0;
  for (const steps of inTransactions(options)) {
    if (stored >= firstPart * options.messages) {
      if (isCaught()) await mayGoOn;
      else await wait(trickleMs, undefined, { signal });
    }
    nextAt = Math.max(nextAt, performance.now() - 1000) + (steps.length / perSecond) * 1000;
    await wait(Math.max(nextAt - performance.now(), 0), undefined, { signal });
    if (++transactions % everyRollback === 0) await store(shop, pool, options.seed, steps, 'rollback');
    await store(shop, pool, options.seed, steps, 'commit');
    stored += steps.length;
  }
}

const endOf = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

async function store(
  shop: ReturnType<typeof createShop>,
  pool: pg.Pool,
  seed: number,
  steps: readonly Step[],
  end: 'commit' | 'rollback',
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const ids = await shop.publish(
      steps.map((step) => OrderMoved(step)),
      { tx: client },
    );
    const rows = steps.map((step, i) => ({
      message_id: ids[i],
      stream_id: streamIdOf(step.orderId),
      order_id: step.orderId,
      step: step.step,
      is_last: step.isLast,
      is_doomed: failuresOf(seed, step.orderId, step.step) === Number.POSITIVE_INFINITY,
    }));
    await client.query(
      `insert into ${world.shop}.steps
       select r.*, clock_timestamp() from jsonb_to_recordset($1) as r(message_id uuid, stream_id uuid, order_id text, step int, is_last boolean, is_doomed boolean)`,
      [JSON.stringify(rows)],
    );
    await client.query(end);
    if (end === 'rollback') {
      await client.query(`insert into ${world.shop}.rolled_back select unnest($1::uuid[])`, [ids]);
    }
  } finally {
    client.release();
  }
}

/**
 * Yields one to three steps of one to six orders at a time, at random by the seed, until every order has all
 * its steps.
 */
function* inTransactions({ messages, streams, seed }: DemoOptions): Generator<Step[]> {
  const random = randomBy(seed);
  const orders = Array.from({ length: streams }, (_, i) => ({
    orderId: `order ${i + 1}`,
    steps: Math.floor(messages / streams) + (i < messages % streams ? 1 : 0),
    next: 1,
  }));
  while (orders.length > 0) {
    const batch: Step[] = [];
    for (let count = 1 + Math.floor(random() * 6); count > 0 && orders.length > 0; count--) {
      const at = Math.floor(random() * orders.length);
      const order = orders[at] as (typeof orders)[number];
      for (let more = 1 + Math.floor(random() * 3); more > 0 && order.next <= order.steps; more--) {
        batch.push({ orderId: order.orderId, step: order.next, isLast: order.next === order.steps });
        order.next++;
      }
      if (order.next > order.steps) orders.splice(at, 1);
    }
    yield batch;
  }
}

/** A random generator, mulberry32: small, and the same on every machine. */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
