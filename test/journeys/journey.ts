// Two services with a PostgreSQL each and several instances each, joined by a transport, under load, while things break.
// In: a way for the messages, and what is to break. Out: nothing is lost, doubled or out of order, and for how long there was
// no progress at each accident. Two judges: one looks at the handlers' effects alone, the other is the watch in the databases.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import { Orders } from '../crashes/support/orders.js';
import { receptorNames } from '../crashes/support/shop.js';
import { Crew } from './crew.js';
import type { JourneyPlan, Way } from './plan.js';
import { Progress, type Stall } from './progress.js';
import { transportOf } from './transport-of.js';

export interface Accident {
  readonly name: string;
  readonly happen: (crew: Crew) => Promise<unknown>;
}

interface JourneyOptions {
  /** Migrated databases of both services. */
  readonly databases: Readonly<Record<JourneyPlan['role'], string>>;
  readonly way: (role: JourneyPlan['role']) => Way;
  readonly instances: number;
  readonly streams: number;
  /** Steps of each stream, at least. More are placed while accidents are left. */
  readonly steps: number;
  readonly accidents: readonly Accident[];
  /** Asked what the broker has when not all comes through. It gets the database of `shop`. */
  readonly inspect?: (shop: pg.Pool) => Promise<unknown>;
}

/** How many steps of each stream may be on their way: behind a large backlog it takes long to see what stands still. */
const mostWaiting = 4;
/** One of each receptor. */
const effectsOfOrder = receptorNames.length;

export async function travel(options: JourneyOptions): Promise<readonly Stall[]> {
  const { databases, way, instances, streams, accidents } = options;
  await using crew = new Crew(options);
  await using tills = openPool(databases.till);
  await using shops = openPool(databases.shop);
  const orders = await Orders.of(tills.pool, streams, shops.pool);
  // The shop first: what is sent to a service that has never started has no receiver.
  for (const role of ['shop', 'till'] as const)
    await Promise.all(Array.from({ length: instances }, () => crew.start(role)));
  await using progress = new Progress(shops.pool);
  const placing = placeSteadily(orders, progress, await transportOf(way('till')), options);
  // All that was placed so far and one step more: what was on its way at an accident does not count as progress after it.
  const untilThrough = () =>
    Promise.race([
      progress.untilReached((placing.count + streams) * effectsOfOrder),
      placing.failure,
      crew.failure,
    ]);
  for (const { name, happen } of accidents) {
    await untilThrough();
    progress.mark(name);
    await happen(crew);
    await untilThrough().catch(async (error: unknown) => {
      const { lost, doubled, outOfOrder } = await orders.verdict();
      const [left, broker] = [await orders.left(), await options.inspect?.(shops.pool)];
      const facts = JSON.stringify({
        lost: lost.length,
        lostFirst: lost.slice(0, 9),
        doubled,
        outOfOrder,
        left,
        broker,
      });
      throw new Error(`Not all comes through after ${name}: ${facts}`, { cause: error });
    });
  }
  await placing.stop();
  await progress.untilReached(placing.count * effectsOfOrder);
  await Promise.race([orders.expectFaultless(), crew.failure]);
  expect(await orders.violations()).toEqual([]);
  return progress.stalls();
}

/** Places a step of every stream again and again, so that there is work whenever something happens. */
function placeSteadily(
  orders: Orders,
  progress: Progress,
  transport: Parameters<Orders['place']>[1],
  { streams, steps }: JourneyOptions,
): { readonly count: number; readonly failure: Promise<never>; readonly stop: () => Promise<void> } {
  let isOver = false;
  let count = 0;
  const placing = (async () => {
    for (let placed = 0; placed < steps || !isOver; placed++) {
      while (count - progress.effects / effectsOfOrder > mostWaiting * streams) await pause(20);
      await orders.place(1, transport);
      count += streams;
    }
  })();
  const failure = new Promise<never>((_, reject) => {
    placing.catch(reject);
  });
  failure.catch(() => {});
  return {
    get count() {
      return count;
    },
    failure,
    stop: async () => {
      isOver = true;
      await placing;
    },
  };
}

function openPool(connectionString: string): AsyncDisposable & { readonly pool: pg.Pool } {
  const pool = new pg.Pool({ connectionString, max: 8 });
  pool.on('error', () => {});
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
