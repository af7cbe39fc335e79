// A receptor without a transaction that reports late: another instance has its message by then. What it sent must not leave twice.
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createWhizbang, defineEvent, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const schema = z.object({ orderId: z.string() });
const Ordered = defineEvent('Ordered', { schema });
const Charged = defineEvent('Charged', { schema });

it.for([
  { name: 'one receptor', receptorNames: ['charge'] },
  { name: 'the first of two receptors', receptorNames: ['charge', 'audit'] },
])(
  'what $name sent without a transaction leaves once, though the lease was lost',
  async ({ receptorNames }) => {
    await using db = await createTestDatabase();
    const pool = db.pool;
    let starts = 0;
    let release = () => {};
    const first = new Promise<void>((resolve) => {
      release = resolve;
    });
    const seen: string[] = [];
    const receptors = () => [
      ...receptorNames.map((name) =>
        receptor(Ordered, { name, transaction: false }, async ({ orderId }, ctx) => {
          if (name !== 'charge') return;
          if (++starts === 1) await first;
          await ctx.publish(Charged({ orderId }));
        }),
      ),
      receptor(Charged, async (_, { envelope }) => void seen.push(envelope.messageId)),
    ];
    const make = () =>
      createWhizbang({
        service: 'shop',
        connectionString: db.connectionString,
        logger: silentLogger,
        leaseSeconds: 60,
        renewSeconds: 20,
        receptors: receptors(),
      });
    await using slow = make();
    await slow.start();
    await slow.publish(Ordered({ orderId: '1' }));
    await eventually(async () => expect(starts).toBe(1));
    const { rows: instances } = await pool.query('select instance_id from wh_service_instances');
    await using other = make();
    await other.start();
    // Its lease ends, and another one takes the message, before it knows. (It may be quicker, and get it again: once more, then.)
    await eventually(async () => {
      for (const table of ['wh_inbox', 'wh_active_streams']) {
        await pool.query(`update ${table} set lease_expiry = clock_timestamp() where instance_id = $1`, [
          instances[0].instance_id,
        ]);
      }
      expect(seen).toHaveLength(1);
    });
    release();
    await eventually(async () => {
      const { rows } = await pool.query('select 1 from wh_inbox union all select 1 from wh_outbox');
      expect(rows).toEqual([]);
    });
    await slow.stop();
    await other.stop();
    expect(seen).toHaveLength(1);
    const { rows } = await pool.query('select count(*)::int as events from wh_message_deduplication');
    expect(rows[0].events).toBe(2);
  },
);
