import pg from 'pg';
import { expect, it } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';
import { Orders } from './support/orders.js';
import { startPostgresPair } from './support/postgres-pair.js';
import { startProcess } from './support/process.js';

it.each([
  ['crashes, and its connections end', false],
  ['vanishes, and its connections fall silent', true],
])(
  'a failover under load costs no message, no order and no process when the primary %s',
  async (_, vanishes) => {
    await using pair = await startPostgresPair((connectionString) => migrate({ connectionString }));
    await using address = await startTcpProxy(pair.primary);
    const { connectionString } = address;
    // Each connection is used once: none of the test's own is left to fall silent.
    const pool = new pg.Pool({ connectionString, maxUses: 1 });
    pool.on('error', () => {});
    const orders = await Orders.of(pool, 8);
    await using one = await startProcess({ connectionString, name: 'one', handlerMs: 10 });
    await using two = await startProcess({ connectionString, name: 'two', handlerMs: 10 });
    await orders.place(40);
    await orders.untilHandled(orders.effectCount / 4);

    await (vanishes ? pair.freezePrimary() : pair.crashPrimary());
    await pair.promoteStandby();
    address.moveTo(pair.standby, vanishes ? 'silent' : 'cut');
    expect((await orders.effects()).length).toBeLessThan(orders.effectCount);

    await orders.place(20);
    await orders.expectFaultless();
    expect([one.hasEnded, two.hasEnded]).toEqual([false, false]);
    await pool.end();
  },
);
