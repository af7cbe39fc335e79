// Services that share one database, each in a schema of its own: the tables are the broker.
// In: outbox messages that the sender holds. Out: rows in the inbox of every service that has subscribed, and the
// outbox rows completed, in one statement: exactly once. Called by the workers through Transport.
// It never delivers: receivers are woken by their own inbox.
import type { Transport } from '../transport.js';
import { PostgresConnection } from './postgres-connection.js';

/**
 * The default transport: services that share one database, each in its schema. From outbox to inbox exactly
 * once, no broker.
 */
export function postgresTransport(): Transport {
  return {
    name: 'postgres',
    sendsDirectly: true,
    connect: async (host) => {
      const connection = new PostgresConnection(host);
      await connection.greet();
      return connection;
    },
  };
}
