export { combine } from './combine/combine.js';
export { type InProcessTransport, inProcessTransport } from './in-process/in-process-transport.js';
export { type ReceiverLease, receiverLease } from './order/receiver-lease.js';
export { shardOf, shardOfMessage } from './order/shards.js';
export { sendInWaves } from './order/waves.js';
export type { OtherDatabaseOptions, PostgresTransportOptions } from './postgres/database-options.js';
export { postgresTransport } from './postgres/postgres-transport.js';
export type * from './transport.js';
export { addressName } from './wire/address-name.js';
export {
  type CloudEvent,
  decodeMessage,
  encodeMessage,
  fromCloudEvent,
  structuredContentType,
  toCloudEvent,
} from './wire/cloud-events.js';
