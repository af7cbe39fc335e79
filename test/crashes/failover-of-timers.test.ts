import pg from 'pg';
import { expect, it } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';
import { eventually } from '../support/eventually.js';
import { createClockwork, expectHandled, handledIn, handledTable, remind } from './support/clockwork.js';
import { startPostgresPair } from './support/postgres-pair.js';
import { startProgram } from './support/process.js';

it('a failover of PostgreSQL costs no timer, doubles none, and fires none early', async () => {
  await using pair = await startPostgresPair((connectionString) => migrate({ connectionString }));
  await using address = await startTcpProxy(pair.primary);
  const { connectionString } = address;
  const pool = new pg.Pool({ connectionString, maxUses: 1 });
  pool.on('error', () => {});
  await pool.query(handledTable);
  const program = new URL('support/clockwork-program.ts', import.meta.url);
  await using one = await startProgram(program, { connectionString });
  await using two = await startProgram(program, { connectionString });
  const sender = createClockwork({ connectionString });
  const ids = await remind(sender, 120, 8);
  await eventually(async () => expect((await handledIn(pool)).length).toBeGreaterThanOrEqual(10));

  await pair.crashPrimary();
  await pair.promoteStandby();
  address.moveTo(pair.standby, 'cut');

  await expectHandled(pool, [...ids.values()]);
  expect([one.hasEnded, two.hasEnded]).toEqual([false, false]);
  await sender.stop();
  await pool.end();
});
