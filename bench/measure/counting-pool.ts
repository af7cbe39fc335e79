// A pool that counts what an instance sends, by the SQL function that a statement calls, and the
// notifications it receives.
// In: a connection string. Out: a pool for createWhizbang, which then takes its LISTEN connection from it too.

import pg from 'pg';

export interface Counts {
  /** Statements, by the SQL function they call or else their first word. */
  readonly statements: ReadonlyMap<string, number>;
  readonly notifications: number;
}

export class CountingPool {
  readonly pool: pg.Pool;
  #statements = new Map<string, number>();
  #notifications = 0;

  constructor(connectionString: string) {
    // As many connections as an instance makes for itself. The server counts the time of its functions.
    this.pool = new pg.Pool({ connectionString, max: 12, options: '-c track_functions=pl' });
    this.pool.on('error', () => {});
    this.pool.on('connect', (client) => this.#watch(client));
  }

  /** Returns the counts since the last call. */
  take(): Counts {
    const counts = { statements: this.#statements, notifications: this.#notifications };
    this.#statements = new Map();
    this.#notifications = 0;
    return counts;
  }

  #watch(client: pg.PoolClient): void {
    client.on('error', () => {});
    client.on('notification', () => this.#notifications++);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const counted = (...args: unknown[]) => {
      const name = nameOf(String(args[0]));
      this.#statements.set(name, (this.#statements.get(name) ?? 0) + 1);
      return query(...args);
    };
    client.query = counted as typeof client.query;
  }
}

function nameOf(text: string): string {
  return /\b(wh_\w+|process_work_batch)\s*\(/.exec(text)?.[1] ?? (text.trim().split(/\s/)[0] as string);
}
