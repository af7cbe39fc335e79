export type { ConnectionPool, PooledClient, Queryable } from './connection.js';
export {
  type CoordinatorOptions,
  type Instance,
  type WorkBatchRequest,
  WorkCoordinator,
} from './coordinator/index.js';
export { errorCodes, WhizbangError, type WhizbangErrorCode, type WhizbangErrorFacts } from './errors.js';
export * from './message.js';
export { newMessageId } from './message-id.js';
export { type MigrateOptions, type MigrationReport, migrate } from './migrate/index.js';
