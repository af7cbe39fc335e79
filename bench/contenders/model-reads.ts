// A service with one perspective on a database of its own, as a user would run it: appends, and reads of its models.

import pg from 'pg';
import { z } from 'zod';
import { createWhizbang, defineEvent, perspective, streamIdOf, type Whizbang } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { timed } from '../measure/call-costs.js';
import type { BenchServer } from '../server.js';

const Placed = defineEvent('Placed', { schema: z.object({ id: z.string() }), stream: ({ id }) => id });
const Paid = defineEvent('Paid', { schema: z.object({ id: z.string() }), stream: ({ id }) => id });
const orders = perspective('orders', { model: z.object({ payments: z.number(), text: z.string() }) })
  .starts(Placed, () => ({ payments: 0, text: 'x'.repeat(300) }))
  .on(Paid, (order) => ({ ...order, payments: order.payments + 1 }));

/** Reads of one model, each timed, in milliseconds. */
export class ModelReads {
  readonly #pool: pg.Pool;
  readonly #shop: Whizbang;
  #orders = 0;
  #receipt: Awaited<ReturnType<Whizbang['events']['append']>> | undefined;

  private constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#shop = createWhizbang({ service: 'bench', pool, perspectives: [orders], logger: silentLogger });
  }

  static async open(server: BenchServer): Promise<ModelReads> {
    const { connectionString } = await server.createMigratedDatabase();
    const reads = new ModelReads(new pg.Pool({ connectionString, max: 10 }));
    await reads.#shop.start();
    return reads;
  }

  /** An order whose model is up to date, then so many events that it lacks: nobody works on it any more. */
  async prepare(missing: number): Promise<void> {
    const id = 'the-order';
    const begun = await this.#shop.events.append(Placed({ id }));
    await this.#shop.model(orders).waitFor(begun, { timeoutSeconds: 20 });
    await this.#pool.query('update wh_perspectives set is_paused = true');
    this.#receipt = begun;
    if (missing > 0)
      this.#receipt = await this.#shop.events.append(Array.from({ length: missing }, () => Paid({ id })));
  }

  async byPrimaryKey(): Promise<number> {
    const text = 'select data from orders where id = $1';
    return (await timed(() => this.#pool.query(text, [streamIdOf('the-order')])))[1];
  }

  async atLeast(): Promise<number> {
    const atLeast = this.#receipt as never;
    const [model, milliseconds] = await timed(() => this.#shop.model(orders).get('the-order', { atLeast }));
    if (model === null) throw new Error('There is no model.');
    return milliseconds;
  }

  /** From the return of an append to the model that a query sees. */
  async untilVisible(): Promise<number> {
    const id = `order-${this.#orders++}`;
    await this.#shop.events.append(Placed({ id }));
    const [, milliseconds] = await timed(async () => {
      for (;;) {
        const { rowCount } = await this.#pool.query('select from orders where id = $1', [streamIdOf(id)]);
        if (rowCount === 1) return;
      }
    });
    return milliseconds;
  }

  async close(): Promise<void> {
    await this.#shop.stop();
    await this.#pool.end().catch(() => {});
  }
}
