// What waits in the outbox: one cheap query, asked at most once in a few seconds, however often it is wanted.
import { openDatabase, quoteSchema, withPooledClient } from '../database/index.js';
import { outageFacts } from '../describe-error.js';
import type { Logger } from '../logger.js';

/** What waits in the outbox. */
export interface Backlog {
  /** Counted up to `countedTo`. */
  readonly depth: number;
  /** Age of the oldest of those that were counted. */
  readonly oldestSeconds: number;
}

/** Above this it is not counted: the query stays cheap on a table of millions. */
export const countedTo = 10_000;
const keptMs = 5_000;
/** A database that does not answer must not hold up who asks for metrics. */
const answerMs = 2_000;

interface BacklogReaderOptions {
  readonly connectionString: string;
  readonly schema: string;
  readonly logger: Logger;
}

export class BacklogReader {
  readonly #options: BacklogReaderOptions;
  readonly #database: ReturnType<typeof openDatabase>;
  #last: Promise<Backlog | undefined> | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #isTold = false;

  constructor(options: BacklogReaderOptions) {
    this.#options = options;
    const { connectionString } = options;
    this.#database = openDatabase({ connectionString, listen: false, concurrency: 1 }, 1);
  }

  /** Undefined when the database does not answer, or the role may not read the table. */
  read(): Promise<Backlog | undefined> {
    const now = performance.now();
    if (this.#last === undefined || now - this.#lastAt >= keptMs) {
      this.#lastAt = now;
      this.#last = this.#ask().catch((error: unknown) => this.#tell(error));
    }
    return this.#last;
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async #ask(): Promise<Backlog> {
    const schema = quoteSchema(this.#options.schema);
    const text = `
      select count(*)::int as depth,
             coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as oldest
      from (select created_at from ${schema}.wh_outbox where processed_at is null limit ${countedTo}) as waiting`;
    const { rows } = await withPooledClient(this.#database.pool, (db) => db.query(text), answerMs);
    const { depth, oldest } = rows[0] as { depth: number; oldest: number };
    this.#isTold = false;
    return { depth, oldestSeconds: Math.max(oldest, 0) };
  }

  #tell(error: unknown): undefined {
    if (!this.#isTold)
      this.#options.logger.warn(outageFacts(error), 'The depth of the outbox cannot be read');
    this.#isTold = true;
    return undefined;
  }
}
