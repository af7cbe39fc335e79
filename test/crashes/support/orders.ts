import type pg from 'pg';
import { expect } from 'vitest';
import { createWhizbang, postgresTransport } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import type { Transport } from '../../../src/transport.js';
import { eventually } from '../../support/eventually.js';
import { type Effect, faultless, judge } from './judge.js';
import { effectsTable, PlaceOrder, receptorNames } from './shop.js';

/** The orders of a test: so many streams of so many steps, sent in a transaction, and what became of them. */
export class Orders {
  readonly #pool: pg.Pool;
  readonly #effects: pg.Pool;
  readonly #streams: readonly string[];
  readonly #receptors: readonly string[];
  #steps = 0;

  /** `effects`: where they are looked for, when another service's database holds them. */
  private constructor(pool: pg.Pool, effects: pg.Pool, streamCount: number, receptors: readonly string[]) {
    this.#pool = pool;
    this.#effects = effects;
    this.#receptors = receptors;
    this.#streams = Array.from({ length: streamCount }, (_, i) => `order-${i}`);
  }

  static async of(
    pool: pg.Pool,
    streamCount: number,
    effects: pg.Pool = pool,
    receptors: readonly string[] = receptorNames,
  ): Promise<Orders> {
    await effects.query(effectsTable);
    return new Orders(pool, effects, streamCount, receptors);
  }

  get effectCount(): number {
    return this.#streams.length * this.#steps * this.#receptors.length;
  }

  /** The next so many steps of every stream, in one transaction; by default straight to the inbox, where the shop has subscribed. */
  async place(steps: number, transport: Transport = postgresTransport()): Promise<void> {
    const commands = Array.from({ length: steps }, (_, i) => this.#steps + i + 1).flatMap((step) =>
      this.#streams.map((orderId) => PlaceOrder({ orderId, step })),
    );
    const till = createWhizbang({ service: 'till', pool: this.#pool, logger: silentLogger, transport });
    const tx = await this.#pool.connect();
    try {
      await tx.query('begin');
      await till.send(commands, { tx });
      await tx.query('commit');
    } finally {
      tx.release();
    }
    this.#steps += steps;
  }

  /** Those steps were sent by somebody else. */
  expectFurther(steps: number): void {
    this.#steps += steps;
  }

  async effects(): Promise<readonly (Effect & { readonly instance: string })[]> {
    const { rows } = await this.#effects.query(
      'select receptor, stream, step, instance from effects order by id',
    );
    return rows as (Effect & { instance: string })[];
  }

  /** Waits until there are so many effects: the middle of the work, for a test that breaks something there. */
  async untilHandled(effectCount: number): Promise<void> {
    await eventually(async () => expect((await this.effects()).length).toBeGreaterThanOrEqual(effectCount));
  }

  async verdict(): Promise<ReturnType<typeof judge>> {
    const expected = { receptors: this.#receptors, streams: this.#streams, steps: this.#steps };
    return judge(expected, await this.effects());
  }

  /** Everything was handled, once and in order, and nothing is left behind in any table. */
  async expectFaultless(patienceMs?: number): Promise<void> {
    await eventually(async () => expect((await this.verdict()).lost).toEqual([]), patienceMs);
    // What is still to be handled is what could double: first let everything come to rest.
    await eventually(async () => expect(await this.left()).toEqual([]));
    expect(await this.verdict()).toEqual(faultless);
  }

  /** What is left in any table. */
  left(): Promise<readonly unknown[]> {
    const text = `
      select 'outbox' as lane, message_id::text, instance_id::text, attempts, error from wh_outbox
      union all select 'inbox', message_id::text, instance_id::text, attempts, error from wh_inbox
      union all select 'dead letter', message_id::text, null, attempts, error from wh_dead_letters`;
    return this.#askBoth(text);
  }

  /** What the databases themselves saw out of order. */
  violations(): Promise<readonly unknown[]> {
    return this.#askBoth('select * from wh_order_violations order by id');
  }

  async #askBoth(text: string): Promise<readonly unknown[]> {
    const pools = new Set([this.#pool, this.#effects]);
    const answers = await Promise.all([...pools].map((pool) => pool.query(text)));
    return answers.flatMap(({ rows }) => rows as unknown[]);
  }
}
