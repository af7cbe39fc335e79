import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, keyedPerspective } from '../../src/index.js';
import { OrderPaid, paid } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const Counted = defineEvent('Counted', {
  schema: z.object({ orders: z.number() }),
  stream: () => 'counted',
});

/** Each payment changes two models, in the same way. */
const counts = keyedPerspective('counts', { model: z.object({ orders: z.number() }), initial: { orders: 0 } })
  .on(
    OrderPaid,
    ({ orderId }) => [orderId, 'all'],
    ({ orders }) => ({ orders: orders + 1 }),
  )
  .announces(Counted, ({ orders }) => ({ orders }));

/** What was announced, as the store has it. */
async function announced(db: TestDatabase): Promise<readonly number[]> {
  const { rows } = await db.pool.query<{ orders: number }>(
    `select (event_data ->> 'orders')::int as orders from wh_event_store where event_type = 'Counted' order by 1`,
  );
  return rows.map(({ orders }) => orders);
}

describe('What a perspective announces', () => {
  it('an event that changes two models in the same way is announced for each', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [counts] });
    await shop.start();
    await shop.events.append(paid('a'));
    await eventually(async () => expect(await announced(db)).toEqual([1, 1]));
  });

  it('a new perspective announces nothing of the events that were there before it', async () => {
    await using db = await createTestDatabase();
    await using writer = service(db);
    for (const id of ['a', 'b', 'c']) await writer.events.append(paid(id));
    await using shop = service(db, { perspectives: [counts] });
    await shop.start();
    await shop.model(counts).waitFor(await shop.events.append(paid('d')), { timeoutSeconds: 60 });
    expect(await shop.model(counts).get('all')).toEqual({ orders: 4 });
    await eventually(async () => expect(await announced(db)).toEqual([1, 4]));
  });
});
