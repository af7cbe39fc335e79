// Services that share one database, each in a schema of its own, or have databases of their own: the tables are the broker.
// In: outbox messages that the sender holds. Out: rows in the inbox of every service that has subscribed, and the
// outbox rows completed: in one database in one statement. Called by the workers through Transport.
// It never delivers: receivers are woken by their own inbox.
import type { Transport } from '../transport.js';
import { Cells } from './cells.js';
import { type PostgresTransportOptions, resolveDatabases } from './database-options.js';
import { DatabasesConnection } from './databases-connection.js';
import { PostgresConnection } from './postgres-connection.js';

/**
 * The default transport, without a broker. Without options: services that share one database, each in its schema. With
 * `databases`: also services in other databases. From outbox to inbox exactly once.
 */
export function postgresTransport(options: PostgresTransportOptions = {}): Transport {
  const entries = resolveDatabases(options);
  const { cells = {} } = options;
  const facts = {
    name: 'postgres',
    traits: { moves: 'stream', sent: 'disk', knowsReceivers: true },
    settles: true,
  } as const;
  if (entries.length === 0 && Object.keys(cells).length === 0) {
    return {
      ...facts,
      sendsDirectly: true,
      connect: async (host) => {
        const connection = new PostgresConnection(host);
        await connection.greet();
        return connection;
      },
    };
  }
  const names = entries.map(({ name }) => name);
  return {
    ...facts,
    connect: async (host) =>
      DatabasesConnection.open(host, entries, new Cells(cells, names, host.instance.serviceName)),
  };
}
