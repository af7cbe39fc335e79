// Services that talk over NATS JetStream: one stream for all messages, and a floor in it for each service.
// In: where NATS is. Out: a transport. Called by the program that builds a service, through `whizbang/nats`.
// Why it loses no order: docs/decisions/0036-a-floor-per-service-in-the-stream.md.
import type { Transport } from '../transport.js';
import { NatsConnection } from './nats-connection.js';
import { type NatsTransportOptions, resolveNatsOptions } from './nats-options.js';

/** Messages travel over NATS JetStream, 2.9 or later. Needs the packages @nats-io/transport-node and @nats-io/jetstream. */
export function natsTransport(options: NatsTransportOptions): Transport {
  const settings = resolveNatsOptions(options);
  return {
    name: 'nats',
    traits: {
      moves: settings.shards === 1 ? 'service' : 'shard',
      // JetStream confirms before it has told the disk to keep it.
      sent: settings.replicas >= 3 ? 'replicated' : 'memory',
      knowsReceivers: false,
    },
    connect: async (host) => {
      const connection = new NatsConnection(settings, host);
      await connection.start();
      return connection;
    },
  };
}
