// A service with perspectives under conditions that should not matter, or should help: an open transaction beside it, a
// second instance. As a user would run it.

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import {
  createWhizbang,
  defineEvent,
  perspective,
  perspectiveFor,
  streamIdOf,
  type Whizbang,
} from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { BenchServer } from '../server.js';

const Placed = defineEvent('Placed', { schema: z.object({ id: z.string() }), stream: ({ id }) => id });
const orders = perspective('orders', { model: z.object({ id: z.string() }) }).starts(Placed, ({ id }) => ({
  id,
}));

/** Events that come at a steady rate, and how long each takes to its model. */
export class SteadyEvents {
  readonly #pool: pg.Pool;
  readonly #shop: Whizbang;
  #count = 0;

  private constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#shop = createWhizbang({ service: 'bench', pool, perspectives: [orders], logger: silentLogger });
  }

  static async open(server: BenchServer): Promise<SteadyEvents> {
    const { connectionString } = await server.createMigratedDatabase();
    const events = new SteadyEvents(new pg.Pool({ connectionString, max: 20 }));
    await events.#shop.start();
    return events;
  }

  /** Ten events each 20 ms, for so long. Returns the lags of one in ten, in milliseconds. */
  async lags(milliseconds: number): Promise<number[]> {
    const waiting: Promise<number>[] = [];
    const end = performance.now() + milliseconds;
    for (let due = performance.now(); due < end; due += 20) {
      await pause(Math.max(due - performance.now(), 0));
      const ids = Array.from({ length: 10 }, () => `order-${this.#count++}`);
      await this.#shop.events.append(ids.map((id) => Placed({ id })));
      waiting.push(this.#untilVisible(ids[9] as string));
    }
    return Promise.all(waiting);
  }

  /** A transaction that has appended and stays open until it is released. */
  async openWriter(): Promise<AsyncDisposable> {
    const client = await this.#pool.connect();
    await client.query('begin');
    await this.#shop.events.append(Placed({ id: 'not committed' }), { tx: client });
    const end = async () => {
      await client.query('rollback');
      client.release();
    };
    return { [Symbol.asyncDispose]: end };
  }

  async #untilVisible(id: string): Promise<number> {
    const since = performance.now();
    for (;;) {
      const { rowCount } = await this.#pool.query('select from orders where id = $1', [streamIdOf(id)]);
      if (rowCount === 1) return performance.now() - since;
      await pause(2);
    }
  }

  async close(): Promise<void> {
    await this.#shop.stop();
    await this.#pool.end().catch(() => {});
  }
}

/** Seconds that so many instances take for a backlog, with a function that takes 5 ms for each event. */
export async function secondsWithInstances(
  server: BenchServer,
  instances: number,
  events: number,
): Promise<number> {
  const { connectionString } = await server.createMigratedDatabase();
  const pool = new pg.Pool({ connectionString, max: 20 });
  let applied = 0;
  const slow = perspectiveFor()('slow').on(Placed, async () => {
    await pause(5);
    applied++;
  });
  const make = () => createWhizbang({ service: 'bench', pool, perspectives: [slow], logger: silentLogger });
  const services = Array.from({ length: instances }, make);
  try {
    for (let i = 0; i < events; i += 500) {
      const ids = Array.from({ length: Math.min(500, events - i) }, (_, n) => `order-${i + n}`);
      await services[0]?.events.append(ids.map((id) => Placed({ id })));
    }
    const since = performance.now();
    await Promise.all(services.map((service) => service.start()));
    while (applied < events) await pause(5);
    const seconds = (performance.now() - since) / 1000;
    if (applied > events * 1.02) throw new Error(`${applied} events were applied instead of ${events}`);
    return seconds;
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await pool.end().catch(() => {});
  }
}
