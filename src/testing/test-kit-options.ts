import type { Queryable } from '../database/index.js';
import type { WhizbangOptions } from '../runtime/index.js';
import type { InProcessTransport } from '../transports/index.js';
import type { KitDatabase, Prepare } from './kit-database.js';
import type { WhichServer } from './kit-server.js';

/**
 * Options of `startTestKit`: those of createWhizbang without the ones that the kit sets, and the kit's own.
 */
export type TestKitOptions<Tx = Queryable> = Omit<
  WhizbangOptions<Tx>,
  'pool' | 'connectionString' | 'instanceId' | 'transport' | 'transaction'
> & {
  /**
   * The server on which the kit creates its database, which it drops at the end: the embedded PostgreSQL,
   * which the kits of a process share, or the server of this URL. Default: `embedded`, and where that cannot run
   * (Windows, or the package is not installed) the server in `DATABASE_URL`.
   */
  readonly database?: WhichServer | undefined;
  /**
   * Creates the tables that your receptors write to. Runs once in a process for each function: each kit then
   * gets a copy, with the rows that the function has inserted.
   */
  readonly prepare?: Prepare | undefined;
  /** The transport of another kit, to connect the two services. Default: one of its own. */
  readonly transport?: InProcessTransport | undefined;
  /**
   * The option of createWhizbang, with the kit's database: `(work, { pool }) =>
   * drizzle(pool).transaction(work)`.
   */
  readonly transaction?: (<T>(work: (tx: Tx) => Promise<T>, database: KitDatabase) => Promise<T>) | undefined;
};
