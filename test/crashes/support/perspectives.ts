// The perspectives that the crash tests break: the steps of each order as a list, which shows what is missing, doubled
// or out of order, in a model of ours and in a table of the user's without any constraint.
import { expect } from 'vitest';
import { z } from 'zod';
import type { Queryable } from '../../../src/database/index.js';
import {
  createWhizbang,
  defineEvent,
  perspective,
  perspectiveFor,
  streamIdOf,
  type Whizbang,
  type WhizbangOptions,
} from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import type { TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { shortLeases } from './shop.js';

const StepTaken = defineEvent('StepTaken', {
  schema: z.object({ orderId: z.string(), step: z.number() }),
  stream: ({ orderId }) => orderId,
});

export type Kind = 'stream' | 'custom';

const stepsTable =
  'create table custom_steps (id bigint generated always as identity, order_id text, step int)';

/** `onApply` is called in the functions, where it may end the process. */
export function createFollower(
  options: Partial<WhizbangOptions>,
  kind: Kind,
  onApply: (orderId: string) => void = () => {},
): Whizbang {
  const model = z.object({ orderId: z.string(), steps: z.array(z.number()) });
  const ofStream = perspective('steps', { model }).starts(StepTaken, ({ orderId, step }) => {
    onApply(orderId);
    return { orderId, steps: [step] };
  });
  const custom = perspectiveFor<Queryable>()('custom').on(StepTaken, async ({ orderId, step }, { tx }) => {
    await tx.query('insert into custom_steps (order_id, step) values ($1, $2)', [orderId, step]);
    onApply(orderId);
  });
  return createWhizbang({
    service: 'shop',
    logger: silentLogger,
    ...shortLeases,
    ...options,
    perspectives: [kind === 'stream' ? ofStream : custom],
  } as WhizbangOptions);
}

const orderOf = (i: number) => `order-${i}`;

/** Orders with one event each, as an application appends them. */
export class Followed {
  readonly #db: TestDatabase;
  readonly #kind: Kind;
  #orders = 0;

  private constructor(db: TestDatabase, kind: Kind) {
    this.#db = db;
    this.#kind = kind;
  }

  static async of(db: TestDatabase, kind: Kind): Promise<Followed> {
    await db.pool.query(stepsTable);
    return new Followed(db, kind);
  }

  async append(count: number): Promise<void> {
    await using app = createWhizbang({ service: 'shop', pool: this.#db.pool, logger: silentLogger });
    const events = Array.from({ length: count }, () =>
      StepTaken({ orderId: orderOf(this.#orders++), step: 1 }),
    );
    await app.events.append(events);
  }

  /** Every event is applied once, but for those of these orders. */
  async expectAllBut(...missing: readonly string[]): Promise<void> {
    const text =
      this.#kind === 'stream'
        ? "select data ->> 'orderId' as id from steps"
        : 'select order_id as id from custom_steps';
    const wanted = Array.from({ length: this.#orders }, (_, i) => orderOf(i)).filter(
      (id) => !missing.includes(id),
    );
    await eventually(async () => {
      const ids = (await this.#db.pool.query<{ id: string }>(text)).rows.map(({ id }) => id);
      expect(ids.sort()).toEqual(wanted.sort());
    });
  }

  async held(): Promise<readonly string[]> {
    const { rows } = await this.#db.pool.query(
      'select stream_id as id from wh_perspective_checkpoints where held',
    );
    return rows.map(
      ({ id }) =>
        Array.from({ length: this.#orders }, (_, i) => orderOf(i)).find((o) => streamIdOf(o) === id) ?? id,
    );
  }

  /** The leases of those who died end now. */
  async endLeases(): Promise<void> {
    await this.#db.pool.query(
      'update wh_perspective_bookmarks set lease_expiry = clock_timestamp() where instance_id is not null',
    );
  }
}
