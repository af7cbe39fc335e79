import pg from 'pg';
import { WhizbangError } from '../errors.js';
import { beforeDeadline } from '../time-limits.js';
import { type ConnectionPool, guardPool, type PooledClient } from './connection.js';
import { refuseConnectionString } from './names.js';

/** How a database beside the service's own is reached. */
interface SmallPoolOptions {
  /** A URL, or a function that returns it: it is asked again when a connection cannot be opened. */
  readonly connectionString: string | (() => Promise<string>);
  /** As in pg: `true`, or the options of TLS. */
  readonly ssl?: pg.PoolConfig['ssl'];
  /** Names the setting in errors, such as `databases.ledger.connectionString`. */
  readonly setting: string;
  readonly max: number;
  readonly connectMs: number;
}

/**
 * A few connections to a database beside the service's own. Its URL may change, with the credentials in it: when a
 * connection cannot be opened, the function is asked for the URL again, and a new one is tried at once.
 */
export class SmallPool implements ConnectionPool {
  readonly #options: SmallPoolOptions;
  #url: string | undefined;
  #pool: pg.Pool | undefined;
  #isClosed = false;

  constructor(options: SmallPoolOptions) {
    this.#options = options;
    if (typeof options.connectionString === 'string') this.#use(options.connectionString);
  }

  get source(): ConnectionPool | undefined {
    return this.#pool as ConnectionPool | undefined;
  }

  async connect(): Promise<PooledClient> {
    const known = this.#pool ?? (await this.#renew());
    try {
      return (await known.connect()) as PooledClient;
    } catch (error) {
      if (this.#isClosed || typeof this.#options.connectionString === 'string') throw error;
      const renewed = await this.#renew();
      if (renewed === known) throw error;
      return (await renewed.connect()) as PooledClient;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#pool !== undefined) await beforeDeadline(this.#pool.end(), performance.now() + 1_000);
  }

  async #renew(): Promise<pg.Pool> {
    const { connectionString, setting } = this.#options;
    let url: unknown;
    try {
      url = await (connectionString as () => Promise<string>)();
    } catch (error) {
      throw new WhizbangError('CONNECTION_FAILED', {
        message: `The function ${setting} failed.`,
        hint: 'Nothing was sent. It is called again at the next attempt. See cause.',
        details: { option: setting },
        cause: error,
      });
    }
    return this.#use(url);
  }

  #use(url: unknown): pg.Pool {
    const { ssl, max, connectMs, setting } = this.#options;
    refuseConnectionString('postgresTransport', setting, url);
    if (this.#pool !== undefined && url === this.#url) return this.#pool;
    const before = this.#pool;
    this.#url = url as string;
    this.#pool = new pg.Pool({
      connectionString: this.#url,
      ...(ssl !== undefined && { ssl }),
      max,
      connectionTimeoutMillis: connectMs,
      allowExitOnIdle: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    });
    guardPool(this.#pool as ConnectionPool);
    // Its connections end when their borrowers have given them back.
    void before?.end().catch(() => {});
    return this.#pool;
  }
}
