// The door `whizbang/rabbitmq`: services joined by RabbitMQ. Needs the package amqplib.
// Exports only, in the group of docs/reference/api.md, which a test holds equal to this file.

export { rabbitmqTransport } from './transports/rabbitmq/rabbitmq-transport.js';
export type { RabbitmqCredentials, RabbitmqTransportOptions } from './transports/rabbitmq/settings.js';
