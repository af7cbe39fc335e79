import { describe, expect, it } from 'vitest';
import { createWhizbang } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase } from '../support/database.js';
import { patientTransport } from '../support/patient-transport.js';
import { startBroker } from './support/broker.js';
import { brokerTransport } from './support/broker-transport.js';
import { endLeases } from './support/end-leases.js';
import { faultless } from './support/judge.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';
import { createShop, longLeases } from './support/shop.js';

const sentTo = {
  broker: ['claimed', 'half sent', 'sent', 'reporting', 'reported'],
  /** It reports nothing: the transfer has completed what it sent. */
  postgres: ['claimed', 'sent'],
};

describe.concurrent('A process that is killed while it publishes', () => {
  it.each(sentTo.broker)(
    'messages of a process killed at "%s" of publishing to a broker arrive once and in order',
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
        leases: 'long',
        accident: { step, nth: 1, signal: 'SIGKILL' },
      });
      await orders.place(4);
      expect(await victim.ended).toBe('SIGKILL');
      const before = [...broker.arrived];
      await endLeases(till.pool);

      await using survivor = createWhizbang({
        service: 'till',
        connectionString,
        logger: silentLogger,
        transport: brokerTransport(broker.port),
        ...longLeases,
      });
      await survivor.start();
      await orders.expectFaultless();
      // What was sent and not yet reported is sent again under its id; nothing else is.
      const again = broker.arrived.length - new Set(broker.arrived).size;
      expect(new Set(broker.arrived).size).toBe(12);
      expect(again).toBe({ 'half sent': 6, sent: 12, reporting: 12 }[step] ?? 0);
      expect(before).toHaveLength({ claimed: 0, 'half sent': 6 }[step] ?? 12);
    },
  );

  it.each(sentTo.postgres)(
    'messages of a process killed at "%s" of a transfer arrive once and in order',
    async (step) => {
      await using db = await createTestDatabase();
      const { connectionString } = db;
      const orders = await Orders.of(db.pool, 3);
      await using victim = await startProcess({
        connectionString,
        leases: 'long',
        accident: { step, nth: 1, signal: 'SIGKILL' },
      });
      await orders.place(4, patientTransport());
      expect(await victim.ended).toBe('SIGKILL');
      await endLeases(db.pool);
      // All that has ever arrived in the inbox: its receptors may have begun before the answer to the transfer came.
      const { rows } = await db.pool.query('select 1 from wh_message_deduplication');
      expect(rows).toHaveLength(step === 'claimed' ? 0 : 12);

      await using survivor = createShop({ connectionString });
      await survivor.start();
      await orders.expectFaultless();
    },
  );
});

describe.concurrent('A process that is killed while it sends', () => {
  it.each([
    { step: 'inserted', inTransaction: true, isThere: false },
    { step: 'committed', inTransaction: true, isThere: true },
    { step: 'storing', inTransaction: false, isThere: false },
    { step: 'stored', inTransaction: false, isThere: true },
  ])(
    'a process killed at the step $step of sending has sent all or nothing (there: $isThere)',
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
  );
});
