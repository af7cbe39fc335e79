import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { startBroker } from './support/broker.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';
import { createShop } from './support/shop.js';

describe.concurrent('A process that is killed while it receives from a broker', () => {
  it.each(['delivered', 'taking', 'taken', 'acknowledged'])(
    'messages of a process killed at the step "%s" of receiving are handled once and in order',
    async (step) => {
      await using db = await createTestDatabase();
      const { connectionString } = db;
      await using broker = await startBroker();
      const orders = await Orders.of(db.pool, 3);
      await using victim = await startProcess({
        connectionString,
        brokerPort: broker.port,
        accident: { step, nth: 2, signal: 'SIGKILL' },
      });
      await orders.place(4);
      expect(await victim.ended).toBe('SIGKILL');

      await using survivor = createShop({ connectionString, transport: broker.transport });
      await survivor.start();
      await orders.expectFaultless();
    },
  );
});
