// A perspective whose model depends on every event and their order, registered and leased without an instance.
import { z } from 'zod';
import { newMessageId, perspective } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { PerspectiveRegistry, registerAll } from '../../../src/perspectives/index.js';
import { OrderPaid, OrderPlaced } from '../../events/shop.js';
import type { TestDatabase } from '../../support/database.js';

/** The amount at which its function throws. */
export const poison = { cents: -1 };
export const sums = perspective('sums', { model: z.object({ cents: z.number(), events: z.number() }) })
  .starts(OrderPlaced, ({ cents }) => ({ cents, events: 1 }))
  .on(OrderPaid, (sum, { cents }) => {
    if (cents === poison.cents) throw new Error('poison');
    return { cents: (sum.cents * 3 + cents) % 1000, events: sum.events + 1 };
  });

const instanceId = newMessageId();
export const key = { instanceId, name: 'sums@1', from: 0 };
export const unsealed = { openEvents: async <Row>(rows: readonly Row[]) => rows };
export const origin = { sender: { service: 'shop', instanceId } } as never;

export async function register(db: TestDatabase): Promise<void> {
  const registry = new PerspectiveRegistry([sums]);
  await registerAll({ registry, pool: db.pool, schema: 'whizbang', instanceId, logger: silentLogger });
  await lease(db);
}

export async function lease(db: TestDatabase): Promise<void> {
  await db.pool.query(`update wh_perspective_bookmarks set instance_id = $1, lease_expiry = 'infinity'`, [
    instanceId,
  ]);
}
