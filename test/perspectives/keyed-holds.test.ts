// Of a keyed perspective a model is held when a function fails, and a stream when the keys of an event cannot be known.
// Both at once must neither lose an event of a model nor apply it twice.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { keyedPerspective } from '../../src/index.js';
import { OrderPlaced } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { holdsIn, retryNow } from './support/holds.js';
import { rowsOf } from './support/orders.js';

/** The amounts of each customer. `keyless` amounts have no key for now, `bad` ones cannot be applied. */
function byCustomer() {
  const trouble = { keyless: new Set<number>(), bad: new Set<number>() };
  const made = keyedPerspective('by_customer', {
    model: z.object({ amounts: z.array(z.number()) }),
    initial: { amounts: [] },
  }).on(
    OrderPlaced,
    ({ customer, cents }) => {
      if (trouble.keyless.has(cents)) throw new Error('no key');
      return customer.split('+');
    },
    ({ amounts }, { cents }) => {
      if (trouble.bad.has(cents)) throw new Error('bad');
      return { amounts: [...amounts, cents] };
    },
  );
  return { trouble, made };
}

const order = (orderId: string, customer: string, cents: number) => OrderPlaced({ orderId, customer, cents });

describe('A held model and a held stream of a keyed perspective', () => {
  it('an event of a held stream is applied once to a held model, whichever is tried again first', async () => {
    await using db = await createTestDatabase();
    const { trouble, made } = byCustomer();
    await using shop = service(db, { perspectives: [made] });
    await shop.start();
    trouble.bad.add(1);
    trouble.keyless.add(2);
    await shop.events.append([order('x', 'Ada', 1), order('y', 'Ada+Bob', 2), order('x', 'Ada', 3)]);
    await eventually(async () => expect(await holdsIn(db)).toHaveLength(2));
    trouble.bad.clear();
    trouble.keyless.clear();
    await retryNow(db);
    await eventually(async () => {
      await retryNow(db);
      expect(await holdsIn(db)).toEqual([]);
    });
    expect(await rowsOf(db, 'by_customer')).toMatchObject([
      { id: 'Ada', version: '3', data: { amounts: expect.arrayContaining([1, 2, 3]) } },
      { id: 'Bob', version: '1', data: { amounts: [2] } },
    ]);
  });

  it('an event of a held stream waits for a model that was held after it', async () => {
    await using db = await createTestDatabase();
    const { trouble, made } = byCustomer();
    await using shop = service(db, { perspectives: [made] });
    await shop.start();
    trouble.keyless.add(1);
    trouble.bad.add(2);
    await shop.events.append([order('y', 'Ada+Bob', 1), order('x', 'Ada', 2)]);
    await eventually(async () => expect(await holdsIn(db)).toHaveLength(2));
    trouble.keyless.clear();
    await retryNow(db);
    await eventually(async () => {
      const holds = await holdsIn(db);
      expect(holds.map(({ error }) => error).join()).toContain('concerns the model Ada, which is held');
    });
    expect(await rowsOf(db, 'by_customer')).toEqual([]);
    trouble.bad.clear();
    await eventually(async () => {
      await retryNow(db);
      expect(await holdsIn(db)).toEqual([]);
    });
    expect(await rowsOf(db, 'by_customer')).toMatchObject([
      { id: 'Ada', version: '2', data: { amounts: expect.arrayContaining([1, 2]) } },
      { id: 'Bob', version: '1', data: { amounts: [1] } },
    ]);
  });

  it('an event that fails for one of its models when its stream is tried again is applied to none', async () => {
    await using db = await createTestDatabase();
    const { trouble, made } = byCustomer();
    await using shop = service(db, { perspectives: [made] });
    await shop.start();
    trouble.keyless.add(1);
    await shop.events.append([order('y', 'Ada+Bob', 1), order('x', 'Ada', 2)]);
    await eventually(async () => expect(await rowsOf(db, 'by_customer')).toHaveLength(1));
    trouble.keyless.clear();
    trouble.bad.add(1);
    await retryNow(db);
    await eventually(async () =>
      expect(await holdsIn(db)).toMatchObject([{ key: null, error: expect.stringContaining('bad') }]),
    );
    expect(await rowsOf(db, 'by_customer')).toMatchObject([{ id: 'Ada', data: { amounts: [2] } }]);
    trouble.bad.clear();
    await retryNow(db);
    await eventually(async () => expect(await holdsIn(db)).toEqual([]));
    expect(await rowsOf(db, 'by_customer')).toMatchObject([
      { id: 'Ada', version: '2', data: { amounts: [2, 1] } },
      { id: 'Bob', version: '1', data: { amounts: [1] } },
    ]);
  });
});
