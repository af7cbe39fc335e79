// The door `whizbang/nats`: messages over NATS JetStream. Needs the optional peers @nats-io/transport-node and
// @nats-io/jetstream. Exports only, in the group of docs/reference/api.md, which a test holds equal to this file.

export type { NatsCredentials, NatsTls, NatsTransportOptions } from './transports/nats/nats-options.js';
export { natsTransport } from './transports/nats/nats-transport.js';
