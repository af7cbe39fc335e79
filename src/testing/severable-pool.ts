import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { ConnectionPool, PooledClient, Queryable } from '../database/index.js';

/**
 * The connections of one instance, which can be frozen for a while or cut permanently. The instance has no
 * other connection to the database, so the database sees it as a process that is frozen or has died.
 */
export class SeverablePool implements ConnectionPool {
  readonly options: { readonly max: number };
  readonly #pool: pg.Pool;
  readonly #name: string;
  #isCut = false;
  #frozen: { readonly until: Promise<void>; readonly thaw: () => void } | undefined;

  constructor(connectionString: string, name: string, max: number) {
    this.options = { max };
    this.#name = name;
    this.#pool = new pg.Pool({ connectionString, max, application_name: name });
    this.#pool.on('error', () => {});
  }

  async connect(): Promise<PooledClient> {
    await this.#frozen?.until;
    if (this.#isCut) throw new Error('The instance is dead.');
    const client = await this.#pool.connect();
    if (!this.#isCut) return this.#stoppable(client);
    client.release(true);
    throw new Error('The instance is dead.');
  }

  /** Wraps a client so that `freeze` stops it too: an instance keeps connections. */
  #stoppable(client: pg.PoolClient): PooledClient {
    return {
      query: async (text, values) => {
        await this.#frozen?.until;
        return client.query(text, values);
      },
      on: (event, listener) => client.on(event, listener),
      off: (event, listener) => client.off(event, listener),
      release: (error) => client.release(error),
    };
  }

  /**
   * Makes every later request for a connection and every later query wait for `thaw`. Queries under way
   * continue.
   */
  freeze(): void {
    let thaw = () => {};
    const until = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    this.#frozen = { until, thaw };
  }

  thaw(): void {
    this.#frozen?.thaw();
    this.#frozen = undefined;
  }

  /** Terminates all connections, whatever they do, and refuses new ones. */
  async cut(admin: Queryable): Promise<void> {
    this.#isCut = true;
    this.thaw();
    const kill = `
      select pg_terminate_backend(pid, 2000) from pg_stat_activity
      where application_name = $1 and datname = current_database()`;
    while ((await admin.query(kill, [this.#name])).rows.length > 0) await pause(5);
  }

  /** Ends the pool without waiting: a handler that never returns never releases its client. */
  end(): void {
    this.#pool.end().catch(() => {});
  }
}
