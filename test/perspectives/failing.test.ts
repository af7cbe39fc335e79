import { describe, expect, it } from 'vitest';
import { statusText } from '../../src/cli/commands/perspectives.js';
import { placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { orders, rowsOf } from './support/orders.js';

describe('A batch that fails as a whole', () => {
  it('status names the batch that fails again and again: where it is, how often, and why', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.model(orders).waitFor(await shop.events.append(placed('a')), { timeoutSeconds: 60 });
    let position = '';
    for await (const event of shop.events.all()) position = event.position;
    await db.pool.query(`
      create function no_more() returns trigger language plpgsql as $$ begin raise exception 'no more orders'; end $$;
      create trigger no_more before insert on orders_v1 for each row execute function no_more()`);
    await shop.events.append(placed('b'));
    await eventually(async () => {
      const [status] = await shop.perspectives.status();
      expect(status).toMatchObject({
        held: 0,
        lagEvents: 1,
        failing: {
          after: position,
          since: expect.any(Date),
          error: expect.stringContaining('no more orders'),
        },
      });
      expect(status?.failing?.failures).toBeGreaterThan(1);
      expect(status?.cause).toMatch(/^the batch behind \d+-\d+ fails, \d+ times so far: .*no more orders/);
      expect(statusText([status as never])).toContain('no more orders');
    });
    await db.pool.query('drop trigger no_more on orders_v1');
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(2));
    await eventually(async () =>
      expect(await shop.perspectives.status()).toMatchObject([{ failing: null, cause: null, lagEvents: 0 }]),
    );
  });
});
