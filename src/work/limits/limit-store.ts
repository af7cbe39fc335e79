import {
  type Entering,
  enterLimit,
  removeIdleLimits,
  waitAtLimit,
  waitingLimits,
} from '../../coordinator/index.js';
import { type ConnectionPool, type Queryable, withPooledClient } from '../../database/index.js';
import type { MessageId } from '../../message.js';

interface LimitStoreOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly instanceId: string;
  /** How long an answer may take: a connection that died silently never answers. */
  readonly answerMs: number;
}

/** How many names, or rows, one statement reads. */
const most = 1000;

/** What the database knows of limits: those over all instances, and the messages that wait at one with a key. */
export class LimitStore {
  readonly #options: LimitStoreOptions;

  constructor(options: LimitStoreOptions) {
    this.#options = options;
  }

  /** Lets a message in, or returns how many seconds it has to wait. Undefined: it is in. 0: nobody knows. */
  enter(entering: Omit<Entering, 'instanceId'>): Promise<number | undefined> {
    const { schema, instanceId } = this.#options;
    return this.#ask((db) => enterLimit(db, schema, { ...entering, instanceId }));
  }

  waitAt(messageId: MessageId, name: string): Promise<void> {
    const { schema, instanceId } = this.#options;
    return this.#ask((db) => waitAtLimit(db, schema, instanceId, messageId, name));
  }

  /** Names of limits with a key at which streams wait, and where to go on if there may be more. */
  async waiting(handler: string, after: string | undefined): Promise<Page> {
    const names = await this.#ask((db) => waitingLimits(db, this.#options.schema, handler, after, most));
    return { names, next: names.length === most ? names.at(-1) : undefined };
  }

  /** Removes rows that nobody uses any more, a few at a time. Returns where to go on. */
  removeIdle(name: string, after: string | undefined): Promise<string | undefined> {
    return this.#ask((db) => removeIdleLimits(db, this.#options.schema, name, after, most));
  }

  #ask<T>(question: (db: Queryable) => Promise<T>): Promise<T> {
    return withPooledClient(this.#options.pool, question, this.#options.answerMs);
  }
}

interface Page {
  readonly names: readonly string[];
  readonly next: string | undefined;
}
