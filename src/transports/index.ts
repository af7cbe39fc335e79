export { decodeMessage, encodeMessage } from './encoding.js';
export { type InProcessTransport, inProcessTransport } from './in-process/in-process-transport.js';
export { postgresTransport } from './postgres/postgres-transport.js';
export type * from './transport.js';
