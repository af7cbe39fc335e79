import { WhizbangError } from '../errors.js';
import { borrowClient, type ConnectionPool, type PooledClient } from './connection.js';

/**
 * One connection of a pool, for one user at a time. It is kept between uses, so that no other borrower
 * can take it: whatever receptors do with the rest of the pool, the instance can renew its leases,
 * report and stop. Before `keep` and after `giveBack`, connections are borrowed from the pool as usual.
 */
export class KeptConnection implements ConnectionPool {
  readonly source: ConnectionPool;
  readonly #onEnding: () => void;
  #isKeeping = false;
  #client: PooledClient | undefined;
  #isLent = false;
  /** The end of the last use in the queue: uses follow one after the other. */
  #last: Promise<void> = Promise.resolve();

  /**
   * `onEnding` is called when `end` was called on the pool,
   * which waits for all clients that it has given out.
   */
  constructor(pool: ConnectionPool, onEnding: () => void) {
    this.source = pool;
    this.#onEnding = onEnding;
  }

  keep(): void {
    this.#isKeeping = true;
  }

  giveBack(): void {
    this.#isKeeping = false;
    if (!this.#isLent) this.#return();
  }

  async connect(): Promise<PooledClient> {
    this.#refuseEnding();
    if (!this.#isKeeping) return this.source.connect();
    const before = this.#last;
    let done = () => {};
    this.#last = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    try {
      this.#refuseEnding();
      this.#client ??= this.#attend(await borrowClient(this.source));
      this.#isLent = true;
      return this.#lend(this.#client, done);
    } catch (error) {
      done();
      throw error;
    }
  }

  #refuseEnding(): void {
    // A `pg.Pool` that is ending gives out no more clients, and waits for those that it has given out.
    if ((this.source as { readonly ending?: boolean }).ending !== true) return;
    this.#onEnding();
    throw endedPool();
  }

  #lend(client: PooledClient, done: () => void): PooledClient {
    return {
      query: (text, values) => client.query(text, values),
      on: (event, listener) => client.on?.(event, listener),
      off: (event, listener) => client.off?.(event, listener),
      release: (error) => {
        this.#isLent = false;
        if (error || !this.#isKeeping) this.#return(error);
        done();
      },
    };
  }

  /**
   * Adds an error listener. While the client is not in use it has no
   * other one, and an 'error' without a listener ends the process.
   */
  #attend(client: PooledClient): PooledClient {
    client.on?.('error', this.#onError);
    return client;
  }

  readonly #onError = (error: Error) => {
    if (!this.#isLent) this.#return(error);
  };

  #return(error?: Error | boolean): void {
    const client = this.#client;
    this.#client = undefined;
    client?.off?.('error', this.#onError);
    client?.release(error);
  }
}

function endedPool(): WhizbangError {
  return new WhizbangError('CONNECTION_FAILED', {
    message: 'The pool of this instance was ended before the instance was stopped.',
    hint: 'Stop first: await shop.stop(), then await pool.end().',
  });
}
