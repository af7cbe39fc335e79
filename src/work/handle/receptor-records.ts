import {
  countInterruption,
  type LastFailure,
  lastFailure,
  type ReceptorRecord,
  receptorRecords,
} from '../../coordinator/index.js';
import { type ConnectionPool, type Queryable, withPooledClient } from '../../database/index.js';
import { type MessageId, WorkBatchFlags, type WorkItem } from '../../message.js';

/** Records of a message beside its row: what its receptors have reported, and how often it was interrupted. */
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

  /** Returns what the receptors of the message have reported, where it has several. */
  of(messageId: MessageId): Promise<readonly ReceptorRecord[]> {
    return this.#ask((db) => receptorRecords(db, this.#schema, messageId));
  }

  /**
   * Counts an interruption, if the previous lease holder died or stalled, and may have been running the
   * message. Returns how often that has happened.
   */
  interruptionsOf({ messageId, flags }: WorkItem): number | Promise<number> {
    if ((flags & WorkBatchFlags.Orphaned) === 0) return 0;
    return this.#ask((db) => countInterruption(db, this.#schema, messageId));
  }

  /** Returns the last failure of the message. */
  lastFailureOf(messageId: MessageId): Promise<LastFailure> {
    return this.#ask((db) => lastFailure(db, this.#schema, messageId));
  }

  #ask<T>(question: (db: Queryable) => Promise<T>): Promise<T> {
    return withPooledClient(this.#pool, question, this.#answerMs);
  }
}
