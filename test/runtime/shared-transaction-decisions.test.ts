// Decisions of several messages in one transaction, on a stream that they have in common.
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { decider, defineEvent, FinalError } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import {
  effectsOf,
  type Handler,
  inCompany,
  leftIn,
  onePlace,
  placing,
  Runs,
  waiting,
  warmUp,
} from './shared-transactions.js';

const Booked = defineEvent('Booked', { schema: z.object({ order: z.string() }), stream: () => 'ledger' });
/** The orders that were booked, in their order. */
const Ledger = decider('Ledger', { initial: [] as readonly string[] }).on(Booked, (orders, { order }) => [
  ...orders,
  order,
]);

const late = { retry: { firstDelaySeconds: 300, jitter: 0 } };
const book: Handler = ({ orderId, step }, ctx) =>
  ctx.decide(Ledger, 'ledger', (orders) => {
    const order = `${orderId}${step}`;
    if (orders.includes(order)) throw new FinalError(`${order} is booked twice`);
    return Booked({ order });
  });

/** The orders of the ledger. Their versions are 1, 2, 3 …, which is checked. */
async function bookedIn(db: TestDatabase): Promise<string[]> {
  const text = `select version::int, event_data ->> 'order' as "order" from wh_event_store where event_type = 'Booked' order by version`;
  const { rows } = await db.pool.query<{ version: number; order: string }>(text);
  expect(rows.map(({ version }) => version)).toEqual(rows.map((_, i) => i + 1));
  return rows.map(({ order }) => order);
}

beforeAll(warmUp);

describe('Decisions in a shared transaction', inCompany, () => {
  it('several messages in one transaction decide on one stream, each behind the one before', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs, book)]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes[0]).toBeGreaterThan(1);
    expect((await bookedIn(db)).toSorted()).toEqual(['a1', 'b1', 'c1', 'd1']);
  });

  const failures: Record<string, Handler> = {
    'after its decision': async (order, ctx) => {
      await book(order, ctx);
      throw new Error('out of stock');
    },
    'in its decision': (_, ctx) =>
      ctx.decide(Ledger, 'ledger', () => {
        throw new Error('not now');
      }),
    'and catches the error of a statement after its decision': async (order, ctx) => {
      await book(order, ctx);
      await ctx.tx.query('select 1 / 0').catch(() => {});
    },
  };

  it.each(Object.entries(failures))(
    'a message that fails %s in a shared transaction books nothing, and the others are booked once, without a gap',
    async (_, fail) => {
      await using db = await createTestDatabase();
      await waiting(db, ['a1', 'b1', 'c1', 'd1']);
      const runs = new Runs();
      const handler: Handler = (order, ctx) => (order.orderId === 'b' ? fail(order, ctx) : book(order, ctx));
      await using shop = onePlace(db, [placing(runs, handler, late)]);
      await shop.start();
      await eventually(async () => expect(await leftIn(db)).toEqual(['b1']));
      expect(runs.sizes[0]).toBeGreaterThan(1); // it was in company at first
      expect((await bookedIn(db)).toSorted()).toEqual(['a1', 'c1', 'd1']);
      expect(await effectsOf(db)).toEqual(['a1', 'c1', 'd1']);
      expect((await shop.events.load(Ledger, 'ledger')).version).toBe(3);
    },
  );
});
