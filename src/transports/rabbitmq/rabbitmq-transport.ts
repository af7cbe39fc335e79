// Services joined by RabbitMQ: quorum queues, one active consumer each, publisher confirms.
// In: outbox messages; what the broker delivers. Out: confirmed messages; deliveries in the order of their streams.
// Called by the workers through Transport. It never returns a message by nack and never cancels a consumer: on a quorum
// queue both let later messages pass. What goes back goes back by closing its channel.
// Why it is as it is: docs/decisions/0035-rabbitmq-in-waves.md.
import type { Transport } from '../transport.js';
import { RabbitmqConnection } from './rabbitmq-connection.js';
import { type RabbitmqTransportOptions, resolveSettings } from './settings.js';

/**
 * A transport over RabbitMQ 3.10 or later, for services that each have a database of their own. Needs the package
 * `amqplib`. Throws INVALID_OPTION.
 */
export function rabbitmqTransport(options: RabbitmqTransportOptions): Transport {
  const settings = resolveSettings(options);
  return {
    name: 'rabbitmq',
    traits: {
      moves: settings.shards === 1 ? 'service' : 'shard',
      sent: 'replicated',
      knowsReceivers: true,
    },
    connect: (host) => RabbitmqConnection.open(settings, host),
  };
}
