import { beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import {
  effectsOf,
  type Handler,
  inCompany,
  leftIn,
  OrderPaid,
  onePlace,
  placing,
  Runs,
  sentBy,
  waiting,
  warmUp,
} from './shared-transactions.js';

const late = { retry: { firstDelaySeconds: 300, jitter: 0 } };

beforeAll(warmUp);

describe('A message that fails in a shared transaction', inCompany, () => {
  const failures: Record<
    string,
    { readonly rest: Handler; readonly options?: object; readonly error: RegExp }
  > = {
    'its handler throws': {
      rest: () => {
        throw new Error('out of stock');
      },
      error: /out of stock/,
    },
    'it catches the error of a statement': {
      rest: (_, { tx }) => tx.query('select 1 / 0').catch(() => {}),
      error: /division by zero/,
    },
    'the commit fails': {
      rest: (_, { tx }) => tx.query(`insert into effects values ('b1')`),
      error: /duplicate key/,
    },
    'its time is up': {
      rest: () => new Promise(() => {}),
      options: { timeoutSeconds: 0.05 },
      error: /longer than 0.05 seconds/,
    },
    'what it sends is refused': {
      rest: (_, { publish }) => publish(OrderPaid({ orderId: 'b' }), { expectedVersion: 7 }),
      error: /version/,
    },
    'it says "rollback"': { rest: (_, { tx }) => tx.query('rollback').catch(() => {}), error: /rollback/ },
  };

  it.each(Object.entries(failures))(
    'a message that fails in a shared transaction (%s) loses one attempt, and the others take effect once',
    async (_, { rest, options, error }) => {
      await using db = await createTestDatabase();
      await waiting(db, ['a1', 'b1', 'b2', 'c1', 'd1']);
      const runs = new Runs();
      const events: unknown[] = [];
      const handler: Handler = (order, ctx) =>
        order.orderId === 'b' && order.step === 1 ? rest(order, ctx) : undefined;
      await using shop = onePlace(db, [placing(runs, handler, { ...late, ...options })]);
      shop.on('failure', ({ attempt }) => events.push(attempt));
      await shop.start();
      await eventually(async () => expect(await leftIn(db)).toEqual(['b1', 'b2']));
      await eventually(() => expect(events).toEqual([1]));
      const failed = await eventually(async () => {
        const { rows } = await db.pool.query(`select attempts, error from wh_inbox where attempts > 0`);
        expect(rows).toHaveLength(1);
        return rows as unknown[];
      });
      expect(failed).toEqual([{ attempts: 1, error: expect.stringMatching(error) }]);
      expect(runs.sizes[0]).toBeGreaterThan(1); // it was in company at first
      expect(runs.orders.lastIndexOf('b2')).toBeLessThan(runs.orders.lastIndexOf('b1'));
      expect(await effectsOf(db)).toEqual(['a1', 'c1', 'd1']);
      expect(await sentBy(db)).toEqual(['a', 'c', 'd']);
      await shop.stop();
      expect(events).toEqual([1]);
    },
  );

  it('a message that failed in a shared transaction runs by itself behind those of its stream that succeeded', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'a2', 'a3', 'b1']);
    const runs = new Runs();
    const onPlaced = placing(
      runs,
      ({ orderId, step }) => {
        if (orderId === 'a' && step === 2) throw new Error('no');
      },
      late,
    );
    await using shop = onePlace(db, [onPlaced]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual(['a2', 'a3']));
    expect(runs.sizes[0]).toBeGreaterThan(1);
    expect(await effectsOf(db)).toEqual(['a1', 'b1']);
  });

  it('a message with a bad payload is a dead letter, and the rest of its group is handled', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1']);
    await arrive(db, 'OrderPlaced', { orderId: 'b', step: 'first' });
    await waiting(db, ['c1']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(await deadLetters(db)).toHaveLength(1);
    expect(await effectsOf(db)).toEqual(['a1', 'c1']);
  });

  it('a receptor whose shared transaction failed handles messages one by one for a while', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1', 'e1']);
    const runs = new Runs();
    const onPlaced = placing(
      runs,
      async ({ orderId }) => {
        if (orderId !== 'b') return;
        await new Promise((resolve) => setTimeout(resolve, 30)); // so long as it was open, it is not shared after it
        throw new Error('no');
      },
      late,
    );
    await using shop = onePlace(db, [onPlaced]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual(['b1']));
    expect(runs.sizes).toEqual([2, 1, 1, 1, 1, 1]);
  });
});
