import { describe, expect, it } from 'vitest';
import type { ConnectionPool } from '../../src/database/index.js';
import { inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

/** As when the server has no connection left: those that are open work on. */
function poolOf(db: TestDatabase) {
  const full = { isFull: false, refusals: 0 };
  const pool: ConnectionPool = {
    connect: async () => {
      if (!full.isFull) return db.pool.connect();
      full.refusals++;
      throw Object.assign(new Error('sorry, too many clients already'), { code: '53300' });
    },
  };
  return { full, pool };
}

describe('A receptor for which the server has no connection left', () => {
  it.each(['one', 'several'])(
    'a message waits and loses no attempt while no connection is free (%s receptors)',
    async (count) => {
      await using db = await createTestDatabase();
      const attempts: number[] = [];
      const { full, pool } = poolOf(db);
      const names = count === 'one' ? ['first'] : ['first', 'second'];
      const receptors = names.map((name) =>
        receptor(
          OrderPlaced,
          { name, retry: { attempts: 1 } },
          (_, { attempt }) => void attempts.push(attempt),
        ),
      );
      await using shop = service(db, {
        connectionString: undefined,
        pool,
        listen: false,
        pollIntervalMs: 10,
        receptors,
        transport: inProcessTransport(),
      });
      await shop.start();
      full.isFull = true;
      await arrive(db, 'OrderPlaced', { orderId: 'a' });
      await eventually(() => expect(full.refusals).toBeGreaterThanOrEqual(4));
      full.isFull = false;
      await eventually(() => expect(attempts).toEqual(names.map(() => 1)));
      expect(await deadLetters(db)).toEqual([]);
    },
  );
});
