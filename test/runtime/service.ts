// Services for the tests of the runtime: real database, real loop; short leases where a test waits for their end.
import { z } from 'zod';
import type { Queryable } from '../../src/database/index.js';
import { createWhizbang, defineCommand, defineEvent, type WhizbangOptions } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { TestDatabase } from '../support/database.js';

export const OrderPlaced = defineEvent('OrderPlaced', {
  schema: z.object({ orderId: z.string(), step: z.number().default(0) }),
  stream: ({ orderId }) => orderId,
});

export const PlaceOrder = defineCommand('PlaceOrder', {
  schema: z.object({ orderId: z.string(), step: z.number().default(0) }),
  stream: ({ orderId }) => orderId,
});

export function service<Tx = Queryable>(db: TestDatabase, options: Partial<WhizbangOptions<Tx>> = {}) {
  return createWhizbang<Tx>({
    service: 'shop',
    connectionString: db.connectionString,
    logger: silentLogger,
    ...options,
  } as WhizbangOptions<Tx>);
}
