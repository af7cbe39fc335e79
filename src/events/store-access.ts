import {
  type ConnectionPool,
  fromDatabaseError,
  inTransaction,
  type Queryable,
  retrying,
  withPooledClient,
} from '../database/index.js';
import { asQueryable } from '../transactions/index.js';

interface StoreAccessOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
}

/** A statement of the event store. */
type Ask<T> = (db: Queryable, schema: string) => Promise<T>;

/** Time limit of a statement outside a transaction. It may wait for a transaction that appends to the same stream. */
const answerMs = 30_000;
const retries = { maxRetries: 3, retryDelayMs: 25, alsoAfterLoss: true };

/** Runs statements of the event store: in the transaction of the caller, or else on a connection of the pool. */
export class StoreAccess {
  readonly #options: StoreAccessOptions;

  constructor(options: StoreAccessOptions) {
    this.#options = options;
  }

  /** Whether the pool was ended: no answer will ever come again. */
  get isEnded(): boolean {
    return (this.#options.pool as { readonly ending?: boolean }).ending === true;
  }

  /**
   * Asks once in a transaction. Outside of one it asks again after a lost answer: whatever is asked here may be
   * asked twice.
   */
  async ask<T>(tx: object | undefined, question: Ask<T>): Promise<T> {
    const { pool, schema } = this.#options;
    if (tx === undefined) {
      return retrying(() => withPooledClient(pool, (db) => question(db, schema), answerMs), retries);
    }
    try {
      return await question(asQueryable(tx), schema);
    } catch (error) {
      throw fromDatabaseError(error);
    }
  }

  /** Asks over this connection, which is in a transaction; if there is none, as `ask`. */
  askOver<T>(db: Queryable | undefined, tx: object | undefined, question: Ask<T>): Promise<T> {
    return db === undefined ? this.ask(tx, question) : question(db, this.#options.schema);
  }

  /** The same for several statements: outside a transaction of the caller they have one of their own. */
  askInTransaction<T>(tx: object | undefined, question: Ask<T>): Promise<T> {
    if (tx !== undefined) return this.ask(tx, question);
    return this.ask(undefined, (db, schema) => inTransaction(db, () => question(db, schema)));
  }
}
