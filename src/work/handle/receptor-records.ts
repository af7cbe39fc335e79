import { countInterruption, doneReceptors } from '../../coordinator/index.js';
import { type ConnectionPool, type Queryable, withPooledClient } from '../../database/index.js';
import type { MessageId } from '../../message.js';

/** What PostgreSQL knows of a message beyond its row: who has handled it, and how often it was interrupted. */
export class ReceptorRecords {
  readonly #pool: ConnectionPool;
  readonly #schema: string;
  readonly #answerMs: number;

  /** The schema is quoted. A look-up by key takes no time: over a connection that died without a word, no answer ever comes. */
  constructor(pool: ConnectionPool, schema: string, answerMs: number) {
    this.#pool = pool;
    this.#schema = schema;
    this.#answerMs = answerMs;
  }

  /** The receptors that need not run again. */
  done(messageId: MessageId): Promise<readonly string[]> {
    return this.#ask((db) => doneReceptors(db, this.#schema, messageId));
  }

  /** Whoever had it before died or stalled, and may have been running it. Gives how often that has happened. */
  countInterruption(messageId: MessageId): Promise<number> {
    return this.#ask((db) => countInterruption(db, this.#schema, messageId));
  }

  #ask<T>(question: (db: Queryable) => Promise<T>): Promise<T> {
    return withPooledClient(this.#pool, question, this.#answerMs);
  }
}
