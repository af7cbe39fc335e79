import { describe, expect, it } from 'vitest';
import { createWhizbang } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase } from '../support/database.js';
import { startBroker } from './broker.js';
import { brokerTransport } from './broker-transport.js';
import { faultless } from './judge.js';
import { Orders } from './orders.js';
import { startProcess } from './process.js';
import { createShop, shortLeases } from './shop.js';

const sentTo = {
  broker: ['claimed', 'half sent', 'sent', 'reporting', 'reported'],
  /** It reports nothing: the transfer has completed what it sent. */
  postgres: ['claimed', 'sent'],
};

describe.concurrent('A process that is killed while it publishes', () => {
  it.each(sentTo.broker)(
    'through a broker, at the step "%s": the receiver gets all of it, once and in order',
    async (step) => {
      await using till = await createTestDatabase();
      await using shop = await createTestDatabase();
      await using broker = await startBroker();
      await using receiver = createShop({
        connectionString: shop.connectionString,
        transport: broker.transport,
      });
      await receiver.start();
      const orders = await Orders.of(till.pool, 3, shop.pool);
      const { connectionString } = till;
      await using victim = await startProcess({
        connectionString,
        role: 'till',
        brokerPort: broker.port,
        accident: { step, nth: 1, signal: 'SIGKILL' },
      });
      await orders.place(4);
      expect(await victim.ended).toBe('SIGKILL');
      const before = [...broker.arrived];

      await using survivor = createWhizbang({
        service: 'till',
        connectionString,
        logger: silentLogger,
        transport: brokerTransport(broker.port),
        ...shortLeases,
      });
      await survivor.start();
      await orders.expectFaultless();
      // What was sent and not yet reported is sent again under its id; nothing else is.
      const again = broker.arrived.length - new Set(broker.arrived).size;
      expect(new Set(broker.arrived).size).toBe(12);
      expect(again).toBe({ 'half sent': 6, sent: 12, reporting: 12 }[step] ?? 0);
      expect(before).toHaveLength({ claimed: 0, 'half sent': 6 }[step] ?? 12);
    },
    60_000,
  );

  it.each(sentTo.postgres)(
    'through PostgreSQL, at the step "%s": the receiver gets all of it, once and in order',
    async (step) => {
      await using db = await createTestDatabase();
      const { connectionString } = db;
      const orders = await Orders.of(db.pool, 3);
      await using victim = await startProcess({
        connectionString,
        accident: { step, nth: 1, signal: 'SIGKILL' },
      });
      await orders.place(4);
      expect(await victim.ended).toBe('SIGKILL');
      const { rows } = await db.pool.query('select 1 from wh_inbox');
      expect(rows).toHaveLength(step === 'sent' ? 12 : 0);

      await using survivor = createShop({ connectionString });
      await survivor.start();
      await orders.expectFaultless();
    },
    60_000,
  );
});

describe.concurrent('A process that is killed while it sends', () => {
  it.each([
    { step: 'inserted', inTransaction: true, isThere: false },
    { step: 'committed', inTransaction: true, isThere: true },
    { step: 'storing', inTransaction: false, isThere: false },
    { step: 'stored', inTransaction: false, isThere: true },
  ])(
    'at the step $step: all of it is there, or nothing (there: $isThere)',
    async ({ step, inTransaction, isThere }) => {
      await using db = await createTestDatabase();
      const { connectionString } = db;
      const orders = await Orders.of(db.pool, 1);
      await using shop = createShop({ connectionString });
      await shop.start();
      await using victim = await startProcess({
        connectionString,
        role: 'till',
        places: { steps: 3, inTransaction },
        accident: { step, nth: 1, signal: 'SIGKILL' },
      });
      expect(await victim.ended).toBe('SIGKILL');
      if (isThere) orders.expectFurther(3);
      await orders.expectFaultless();
      expect(await orders.verdict()).toEqual(faultless);
    },
    60_000,
  );
});
