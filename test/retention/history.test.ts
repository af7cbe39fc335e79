// The option `history` of a service: its messages leave rows, and its days are kept.
import { describe, expect, it } from 'vitest';
import { createWhizbang, receptor, WhizbangError } from '../../src/index.js';
import { PlaceOrder, service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

describe('The option history', () => {
  it('a message that a service has handled is found with its failures, and its days are made', async () => {
    await using db = await createTestDatabase();
    let failures = 1;
    const handles = receptor(PlaceOrder, { retry: { firstDelaySeconds: 0.01 } as never }, () => {
      if (failures-- > 0) throw new Error('not yet');
    });
    await using shop = service(db, { receptors: [handles], history: { days: 7 } });
    await shop.start();
    const id = await shop.send(PlaceOrder({ orderId: 'a', step: 1 }));
    await eventually(async () =>
      expect(await shop.messages.get(id)).toMatchObject({
        state: 'finished',
        type: 'PlaceOrder',
        failures: [{ attempt: 1, error: expect.stringContaining('not yet') }],
      }),
    );
    await eventually(async () => {
      const { rows } = await db.pool.query(
        `select count(*)::int as days from pg_inherits where inhparent = 'wh_history'::regclass`,
      );
      expect(rows[0].days).toBeGreaterThanOrEqual(4);
    });
  });

  it('a service without the option leaves no row', async () => {
    await using db = await createTestDatabase();
    let handled = 0;
    await using shop = service(db, { receptors: [receptor(PlaceOrder, () => void handled++)] });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a', step: 1 }));
    await eventually(async () => {
      expect((await db.pool.query('select from wh_inbox')).rowCount).toBe(0);
      expect(handled).toBe(1);
    });
    expect((await db.pool.query('select * from wh_history')).rows).toEqual([]);
  });

  it.for([[7], [{}], [{ days: 0 }], [{ days: 7, share: 0 }], [{ days: 7, share: 2 }]])(
    'the option history refuses %j',
    ([history]) => {
      const make = () =>
        createWhizbang({ service: 'shop', connectionString: 'postgres://x', history: history as never });
      expect(make).toThrow(WhizbangError);
    },
  );
});
