import type { Queryable } from '../database/index.js';
import type { WhizbangOptions } from '../runtime/index.js';
import type { InProcessTransport } from '../transports/index.js';
import type { KitDatabase, Prepare } from './kit-database.js';
import type { WhichServer } from './kit-server.js';

/** What createWhizbang takes, but for what the kit brings, and what is the kit's. */
export type TestKitOptions<Tx = Queryable> = Omit<
  WhizbangOptions<Tx>,
  'pool' | 'connectionString' | 'instanceId' | 'transport' | 'transaction'
> & {
  /**
   * Where the kit makes a database of its own, which it drops at the end: on the embedded PostgreSQL, which the kits of a
   * process share, or on the server of this URL. Default: `embedded`.
   */
  readonly database?: WhichServer | undefined;
  /**
   * Makes the tables that your receptors write to. Runs once in a process for each function: each kit then gets a copy,
   * with what the function has left in it.
   */
  readonly prepare?: Prepare | undefined;
  /** That of another kit, so that the two services talk to each other. Default: one of its own. */
  readonly transport?: InProcessTransport | undefined;
  /** As in createWhizbang, with the kit's database: `(work, { pool }) => drizzle(pool).transaction(work)`. */
  readonly transaction?: (<T>(work: (tx: Tx) => Promise<T>, database: KitDatabase) => Promise<T>) | undefined;
};
