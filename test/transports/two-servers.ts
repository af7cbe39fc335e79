// Services on two servers: shop and billing share a database on one, orders has one on the other.
// In: nothing. Out: subjects for the conformance suite, and both databases for tests of one of them being away.
import pg from 'pg';
import { expect } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/index.js';
import { migrate } from '../../src/migrate/index.js';
import {
  type OtherDatabaseOptions,
  postgresTransport,
  type TransportHost,
} from '../../src/transports/index.js';
import { startTcpProxy, type TcpProxy } from '../coordinator/tcp-proxy.js';
import { createTestDatabase, openTestDatabase, type TestDatabase } from '../support/database.js';
import { memoryFolder } from '../support/memory-folder.js';
import { empty, joinAs, refuseSome, storedIn, whileTransferWaits } from './postgres-services.js';
import type { SubjectInstance, TransportSubject } from './subject.js';

export interface TwoServers extends AsyncDisposable {
  /** Of shop and billing. */
  readonly near: TestDatabase;
  /** Of orders. */
  readonly far: TestDatabase;
  /** The server of orders. */
  readonly farServer: EmbeddedPostgres;
}

export async function startTwoServers(): Promise<TwoServers> {
  const near = await createTestDatabase({ template: 'empty' });
  const farServer = await startEmbeddedPostgres({ tempDir: memoryFolder() });
  const far = openTestDatabase('postgres', farServer.connectionString, () => farServer.stop());
  for (const schema of ['shop', 'billing']) await migrate({ pool: near.pool, schema });
  await migrate({ pool: far.pool, schema: 'orders' });
  await refuseSome(far);
  const end = async () => {
    await near.drop();
    await far.drop();
  };
  return { near, far, farServer, [Symbol.asyncDispose]: end };
}

interface TwoServersSubject extends TransportSubject {
  /** The way of the senders on the near server to the far one. */
  readonly between: TcpProxy;
  joinWith(
    service: string,
    entry: Partial<OtherDatabaseOptions>,
    host?: Partial<TransportHost>,
  ): Promise<SubjectInstance>;
}

/** The network between each service and its own database can fail (`goAway`), and that between the servers (`between`). */
export async function twoServersSubject({ near, far }: TwoServers): Promise<TwoServersSubject> {
  await empty(near, ['shop', 'billing']);
  await empty(far, ['orders']);
  const between = await startTcpProxy(far.connectionString);
  const ways = await Promise.all(
    [near, far].map(async (db) => {
      const proxy = await startTcpProxy(db.connectionString);
      const pool = new pg.Pool({ connectionString: proxy.connectionString });
      pool.on('error', () => {});
      return { db, proxy, pool };
    }),
  );
  const [ofNear, ofFar] = ways as [(typeof ways)[number], (typeof ways)[number]];
  const wayOf = (service: string) => (service === 'orders' ? ofFar : ofNear);
  const joinWith: TwoServersSubject['joinWith'] = (service, entry, host = {}) => {
    const { db, pool } = wayOf(service);
    const { connectionString } = service === 'orders' ? near : between;
    const entryOf = (schema: string) => ({ connectionString, schema, ...entry }) as OtherDatabaseOptions;
    const names = service === 'orders' ? ['shop', 'billing'] : ['orders'];
    const databases = Object.fromEntries(names.map((name) => [name, entryOf(name)]));
    return joinAs(db, service, { pool, transport: postgresTransport({ databases }), host });
  };
  return {
    between,
    joinWith,
    traits: postgresTransport().traits,
    join: (service) => joinWith(service, {}),
    goAway: async () => {
      for (const { proxy } of ways) {
        proxy.hangUpOn = Number.POSITIVE_INFINITY;
        proxy.cut();
      }
    },
    comeBack: async () => {
      for (const { proxy } of ways) proxy.hangUpOn = 0;
    },
    // The other database has the messages already; the own one has completed them, and nobody learns of it.
    loseAnswerTo: async (send) => {
      const lost = () => expect(send()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      await whileTransferWaits(near, 'shop.wh_outbox', lost, async () => ofNear.proxy.cut());
    },
    refused: (message) => ({ ...message, type: 'Refused' }),
    stored: (service) => storedIn(wayOf(service).db, service),
    [Symbol.asyncDispose]: async () => {
      for (const { pool, proxy } of ways) {
        await pool.end();
        await proxy[Symbol.asyncDispose]();
      }
      await between[Symbol.asyncDispose]();
    },
  };
}
