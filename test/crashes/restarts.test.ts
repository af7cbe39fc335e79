import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { migrate } from '../../src/migrate/index.js';
import { memoryFolder } from '../support/memory-folder.js';
import { searchPath } from '../support/search-path.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';

describe.concurrent('A PostgreSQL under load', () => {
  it.each([
    { how: 'restarted', crash: false },
    { how: 'crashed', crash: true },
  ])(
    'a PostgreSQL that is $how twice under load costs no message, no order and no process',
    async ({ crash }) => {
      await using server = await startEmbeddedPostgres({
        tempDir: memoryFolder(),
        settings: { search_path: searchPath },
      });
      const { connectionString } = server;
      await migrate({ connectionString });
      const pool = new pg.Pool({ connectionString });
      pool.on('error', () => {});
      const orders = await Orders.of(pool, 8);
      await using one = await startProcess({ connectionString, name: 'one', handlerMs: 10 });
      await using two = await startProcess({ connectionString, name: 'two', handlerMs: 10 });
      await orders.place(20);
      for (const part of [0.1, 0.4]) {
        await orders.untilHandled(orders.effectCount * part);
        await server.restart({ crash });
      }
      await orders.place(2);
      await orders.expectFaultless();
      for (const instance of [one, two]) instance.signal('SIGTERM');
      expect(await Promise.all([one.ended, two.ended])).toEqual([0, 0]);
      await pool.end();
    },
  );
});
