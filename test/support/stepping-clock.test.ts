import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { clockCanBeStepped, orWhyNot, startSteppingServer } from './stepping-clock.js';

describe.skipIf(!clockCanBeStepped)(`A PostgreSQL whose clock is stepped${orWhyNot}`, () => {
  it('PostgreSQL goes on when its clock is stepped: timeouts, checkpoints and vacuums work', async () => {
    await using server = await startSteppingServer();
    const client = new pg.Client({ connectionString: server.connectionString });
    await client.connect();
    await client.query('create table counted (n int)');
    for (const seconds of [-2, 0, -3600, 3600, 0]) {
      await server.step(seconds);
      await client.query("set statement_timeout = '50ms'");
      const waiting = client.query('select pg_sleep(600)');
      await expect(waiting).rejects.toThrow(/statement timeout/);
      await client.query('set statement_timeout = 0');
      await client.query('insert into counted select generate_series(1, 1000)');
      await client.query('checkpoint');
      await client.query('vacuum analyze counted');
    }
    await client.end();
  });
});
