import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ConnectionPool } from '../../src/database/index.js';
import { inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { OrderPlaced, service } from './service.js';

it('an instance that is stopped at any moment of its start is not registered afterwards', async () => {
  await using db = await createTestDatabase();
  const left: number[] = [];
  for (let moment = 0; moment < 24; moment++) {
    // The server takes its time for the calls of the start, more or less: a goodbye on another connection overtakes them.
    const pool: ConnectionPool = {
      connect: async () => {
        const client = await db.pool.connect();
        return {
          query: async (text, values) => {
            if (text.includes('process_work_batch')) await pause(moment % 8);
            return client.query(text, values);
          },
          release: (error) => client.release(error),
        };
      },
    };
    const shop = service(db, {
      connectionString: undefined,
      pool,
      listen: false,
      receptors: [receptor(OrderPlaced, () => {})],
      transport: inProcessTransport(),
    });
    const started = shop.start().catch(() => {});
    await pause(moment / 2);
    await shop.stop({ seconds: 0 });
    await started;
    const { rows } = await db.pool.query('select 1 from wh_service_instances');
    if (rows.length > 0) left.push(moment);
    await db.pool.query('delete from wh_service_instances');
  }
  expect(left).toEqual([]);
});
