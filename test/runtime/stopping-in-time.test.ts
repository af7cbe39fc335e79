// The time of a stop is counted by a clock that the test moves: how busy the machine is does not matter.
import type pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { ConnectionPool } from '../../src/database/index.js';
import { inProcessTransport, receptor } from '../../src/index.js';
import type { Transport } from '../../src/transport.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

const never = () => new Promise<never>(() => {});

/** Connections to a server that can fall silent. */
function mutePool(db: TestDatabase) {
  const lent = new Set<pg.PoolClient>();
  const server = { isSilent: false };
  const pool: ConnectionPool = {
    connect: async () => {
      if (server.isSilent) return never();
      const client = await db.pool.connect();
      lent.add(client);
      return {
        query: (text, values) => (server.isSilent ? never() : client.query(text, values)),
        release: (error) => {
          if (lent.delete(client)) client.release(error);
        },
      };
    },
  };
  const hangUp = () => {
    for (const client of lent) client.release(true);
  };
  return { server, pool, [Symbol.dispose]: hangUp };
}

/** A broker that never says that it has ended anything. */
function endless(transport: Transport): Transport {
  return {
    name: 'endless',
    traits: { moves: 'stream', sent: 'unknown', knowsReceivers: false },
    connect: async (host) => {
      const connection = await transport.connect(host);
      return {
        send: (messages, signal) => connection.send(messages, signal),
        ready: (signal) => connection.ready(signal),
        receive: async (subscription, deliver) => {
          await connection.receive(subscription, deliver);
          return { stop: never };
        },
        close: never,
      };
    },
  };
}

it('a stop ends four seconds after its time, though PostgreSQL, the broker and a receptor are silent', async () => {
  await using db = await createTestDatabase();
  using mute = mutePool(db);
  const { server, pool } = mute;
  let isRunning = false;
  const onPlaced = receptor(OrderPlaced, { transaction: false }, () => {
    isRunning = true;
    return never();
  });
  const shop = service(db, {
    connectionString: undefined,
    pool,
    listen: false,
    receptors: [onPlaced],
    transport: endless(inProcessTransport()),
  });
  await shop.start();
  await arrive(db, 'OrderPlaced', { orderId: 'a' });
  await eventually(() => expect(isRunning).toBe(true));

  server.isSilent = true;
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  let isStopped = false;
  const stopped = shop.stop({ seconds: 30 }).then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(29_000);
  expect(isStopped).toBe(false); // so long the receptor may take
  await vi.advanceTimersByTimeAsync(5_000);
  expect(isStopped).toBe(true);
  await stopped;
});
