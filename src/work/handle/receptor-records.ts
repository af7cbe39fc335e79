import { countInterruption, doneReceptors } from '../../coordinator/index.js';
import { type ConnectionPool, type Queryable, withPooledClient } from '../../database/index.js';
import type { MessageId } from '../../message.js';

/** Records of a message beside its row: which receptors have handled it, and how often it was interrupted. */
export class ReceptorRecords {
  readonly #pool: ConnectionPool;
  readonly #schema: string;
  readonly #answerMs: number;

  /**
   * The schema is quoted. `answerMs` limits each look-up by key, which takes no time: a connection that died
   * silently never answers.
   */
  constructor(pool: ConnectionPool, schema: string, answerMs: number) {
    this.#pool = pool;
    this.#schema = schema;
    this.#answerMs = answerMs;
  }

  /** Returns the names of the receptors that need not run again. */
  done(messageId: MessageId): Promise<readonly string[]> {
    return this.#ask((db) => doneReceptors(db, this.#schema, messageId));
  }

  /**
   * Counts an interruption: the previous lease holder died or stalled, and may have been running the message.
   * Returns how often that has happened.
   */
  countInterruption(messageId: MessageId): Promise<number> {
    return this.#ask((db) => countInterruption(db, this.#schema, messageId));
  }

  #ask<T>(question: (db: Queryable) => Promise<T>): Promise<T> {
    return withPooledClient(this.#pool, question, this.#answerMs);
  }
}
