// How PostgreSQL is reached: the pool and what is borrowed from it, time limits, retries, and the driver's errors as ours.
// In: a pool or a URL of the user's. Out: clients, results, WhizbangErrors.
// Called by all that ask PostgreSQL something. It knows no table and no function of ours.

export {
  type ConnectionPool,
  connectMs,
  guardPool,
  type ListenClient,
  type PooledClient,
  type Queryable,
  withPooledClient,
} from './connection.js';
export { codeOf, fromDatabaseError, serverErrorOf } from './database-error.js';
export { checkEngine, refuseEngine } from './engine.js';
export { inTransaction } from './in-transaction.js';
export { defaultSchema, quoteSchema, refuseConnectionString } from './names.js';
export { type Database, type DatabaseOptions, openDatabase } from './open-database.js';
export { isOutage } from './outage.js';
export { retrying } from './retry.js';
export {
  beginStatement,
  lookAtSessions,
  openingStatement,
  pidOf,
  type Sessions,
  signOfLife,
} from './session.js';
export { SmallPool } from './small-pool.js';
