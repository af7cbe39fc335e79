import { type ConnectionPool, withPooledClient } from '../../database/index.js';
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
  async done(messageId: MessageId): Promise<readonly string[]> {
    const names = await this.#ask(`to_json(${this.#schema}.wh_done_receptors($1::uuid))`, messageId);
    return JSON.parse(names) as string[];
  }

  /** Whoever had it before died or stalled, and may have been running it. Gives how often that has happened. */
  async countInterruption(messageId: MessageId): Promise<number> {
    // Null, and so 0, when somebody else has finished it meanwhile: then its completion is refused.
    return Number(await this.#ask(`${this.#schema}.wh_count_interruption($1::uuid)`, messageId));
  }

  async #ask(expression: string, messageId: MessageId): Promise<string> {
    const text = `select ${expression}::text as answer`;
    const { rows } = await withPooledClient(
      this.#pool,
      (client) => client.query(text, [messageId]),
      this.#answerMs,
    );
    return (rows[0] as { answer: string }).answer;
  }
}
