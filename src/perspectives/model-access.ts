import { type ConnectionPool, type Queryable, retrying, withPooledClient } from '../database/index.js';
import { type EventRow, StoredEvent } from '../fold/index.js';
import type { OpenEvents } from './open-events.js';

interface ModelAccessOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly keys: OpenEvents;
}

const answerMs = 30_000;
const retries = { maxRetries: 3, retryDelayMs: 25 };

/** Runs statements about perspectives on connections of the pool. */
export class ModelAccess {
  readonly #options: ModelAccessOptions;

  constructor(options: ModelAccessOptions) {
    this.#options = options;
  }

  /** Asks a question: after a lost answer it is asked again. */
  ask<T>(question: (db: Queryable, schema: string) => Promise<T>): Promise<T> {
    return retrying(() => this.#once(question), { ...retries, alsoAfterLoss: true });
  }

  /** Changes something: after a lost answer it is not known whether it was done. */
  change<T>(statement: (db: Queryable, schema: string) => Promise<T>): Promise<T> {
    return retrying(() => this.#once(statement), { ...retries, alsoAfterLoss: false });
  }

  /** Reads events of the store: their sealed fields are opened. */
  async read(rows: readonly EventRow[]): Promise<readonly StoredEvent[]> {
    return (await this.#options.keys.openEvents(rows)).map((row) => new StoredEvent(row));
  }

  #once<T>(work: (db: Queryable, schema: string) => Promise<T>): Promise<T> {
    const { pool, schema } = this.#options;
    return withPooledClient(pool, (db) => work(db, schema), answerMs);
  }
}
