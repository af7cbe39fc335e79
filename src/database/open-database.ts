import pg from 'pg';
import { WhizbangError } from '../errors.js';
import { beforeDeadline } from '../time-limits.js';
import {
  borrowClient,
  type ConnectionPool,
  connectMs,
  guardPool,
  type ListenClient,
  type PooledClient,
} from './connection.js';
import { KeptConnection } from './kept-connection.js';

/**
 * Connections beside those of the receptors: one for the calls,
 * one for the transport, one to LISTEN, one for `invoke`.
 */
const connectionsOfItsOwn = 4;

/**
 * How long a connection is idle before it is probed (keep-alive).
 * Node then probes every second, and gives it up after ten.
 */
const keepAliveMs = 5_000;

/** The database: a pool of yours, or a URL. */
export type DatabaseOptions =
  | { readonly pool: ConnectionPool; readonly connectionString?: undefined }
  /** A pool of its own is made, large enough, and closed at the end. */
  | { readonly connectionString: string; readonly pool?: undefined };

export interface Database {
  readonly pool: ConnectionPool;
  /** Holds one connection for the calls of the instance, which receptors cannot take. */
  readonly forCalls: ConnectionPool;
  /** Keeps the connection of `forCalls` from now on. */
  keep(): void;
  /** How many receptors may run at once. */
  readonly concurrency: number;
  /** Undefined when the instance does not listen. */
  readonly connectToListen: (() => Promise<ListenClient>) | undefined;
  /** Gives back its connections to the pool, and ends the pool if it is our own. */
  close(): Promise<void>;
}

export function openDatabase(
  options: DatabaseOptions & {
    readonly listen?: boolean | string | undefined;
    readonly concurrency?: number | undefined;
  },
  defaultConcurrency: number,
): Database {
  const { connectionString, listen = true } = options;
  const concurrency = concurrencyOf(options, defaultConcurrency);
  const own =
    options.pool === undefined
      ? // They stay open: else, after ten quiet seconds, a message would wait for a new one and its plans.
        new pg.Pool({
          connectionString,
          max: concurrency + connectionsOfItsOwn,
          min: connectionsOfItsOwn,
          // They do not keep the process alive: a script that has
          // sent may simply end. A started instance has its loop.
          allowExitOnIdle: true,
          connectionTimeoutMillis: connectMs - 1_000, // shorter: pg closes the unanswered connection
          // A firewall must not drop idle ones, and one that has died must be noticed before it is used.
          keepAlive: true,
          keepAliveInitialDelayMillis: keepAliveMs,
        })
      : undefined;
  const pool: ConnectionPool = own ?? (options.pool as ConnectionPool);
  guardPool(pool);
  const url = typeof listen === 'string' ? listen : connectionString;
  let listening: ListenClient | undefined;
  const giveBack = () => {
    kept.giveBack();
    void listening?.end();
  };
  const kept = new KeptConnection(pool, giveBack);
  return {
    pool,
    forCalls: kept,
    keep: () => kept.keep(),
    concurrency,
    connectToListen:
      listen === false
        ? undefined
        : async () => {
            if (url !== undefined) return connect(url);
            listening = await borrow(pool);
            return listening;
          },
    close: async () => {
      giveBack();
      // A receptor that does not end keeps its connection: the process must be able to end all the same.
      if (own !== undefined) await beforeDeadline(own.end(), performance.now() + 1_000);
    },
  };
}

/**
 * Returns how many receptors may run at once. A receptor that sends outside its
 * transaction waits for a call that needs a connection: there must be one left.
 */
function concurrencyOf(
  { pool, concurrency }: Pick<DatabaseOptions, 'pool'> & { readonly concurrency?: number | undefined },
  defaultConcurrency: number,
): number {
  const { max } = (pool as { options?: { max?: number } } | undefined)?.options ?? {};
  const possible = max === undefined ? Number.POSITIVE_INFINITY : max - connectionsOfItsOwn;
  if ((concurrency ?? 1) <= possible) return concurrency ?? Math.min(defaultConcurrency, possible);
  throw new WhizbangError('INVALID_OPTION', {
    message: `createWhizbang: the pool has ${max} connections, and ${concurrency ?? 1} receptors at once need ${(concurrency ?? 1) + connectionsOfItsOwn}.`,
    hint: 'Make the pool larger (max), set concurrency lower, or give connectionString instead of pool.',
    details: { option: 'pool', value: max, min: (concurrency ?? 1) + connectionsOfItsOwn },
  });
}

async function connect(connectionString: string): Promise<ListenClient> {
  const client = new pg.Client({
    connectionString,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => {}); // it may break before another listener is added
  await client.connect();
  return client;
}

async function borrow(pool: ConnectionPool): Promise<ListenClient> {
  const client = (await borrowClient(pool)) as PooledClient & ListenClient;
  if (typeof client.on !== 'function') {
    client.release();
    throw new Error('the clients of this pool cannot report notifications');
  }
  let isReleased = false;
  return {
    query: (text) => client.query(text),
    on: (event: 'error' | 'end' | 'notification', listener: (told: never) => void) =>
      client.on(event as 'error', listener as (error: Error) => void),
    end: async () => {
      if (isReleased) return;
      isReleased = true;
      client.release(true); // it listens and may hold a lock: no other borrower may get it
    },
  };
}
