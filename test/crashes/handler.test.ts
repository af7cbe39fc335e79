import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { endLeases } from './support/end-leases.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';
import { createShop } from './support/shop.js';

const steps = ['starting', 'begun', 'handled', 'settled', 'committed'];

describe.concurrent('A process that is killed while it handles a message', () => {
  it.each(steps)(
    'messages of a process killed at the step "%s" of a handler are handled once and in order',
    async (step) => {
      await using db = await createTestDatabase();
      const orders = await Orders.of(db.pool, 3);
      const { connectionString } = db;
      const accident = { step, nth: 4, signal: 'SIGKILL' } as const;
      const name = 'victim';
      await using victim = await startProcess({
        connectionString,
        name,
        leases: 'long',
        accident,
        groupSize: 1,
      });
      await orders.place(5);
      expect(await victim.ended).toBe('SIGKILL');
      await endLeases(db.pool);

      await using survivor = createShop({ connectionString }, { name: 'survivor' });
      await survivor.start();
      await orders.expectFaultless();
      const effects = await orders.effects();
      expect(new Set(effects.map(({ instance }) => instance))).toEqual(new Set(['victim', 'survivor']));
    },
  );
});
