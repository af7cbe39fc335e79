// The effect of a handler that does something: one row of a user's table for each message, the same for every
// contender. After each cycle the rows are counted and removed, so that the table is of equal size for fast
// and slow contenders.

import type pg from 'pg';
import type { BenchDatabase } from '../server.js';

/**
 * The table of effects. Its identity column shows the order in which the rows of a stream were written. It
 * has no key, which would hide a second effect.
 */
const table = `
  create table effects (
    id bigint generated always as identity primary key,
    message_id uuid not null,
    stream_id uuid not null,
    number int not null
  )`;

const insert = 'insert into effects (message_id, stream_id, number) values ($1, $2, $3)';

interface Effect {
  readonly messageId: string;
  readonly streamId: string;
  readonly number: number;
}

type Query = (text: string, values: unknown[]) => Promise<unknown>;

/** Writes the effect of a handler, in its transaction or without one. */
export async function writeEffect(query: Query, { messageId, streamId, number }: Effect): Promise<void> {
  await query(insert, [messageId, streamId, number]);
}

export class Effects {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(database: BenchDatabase): Promise<Effects> {
    const client = await database.connect();
    await client.query(table);
    return new Effects(client);
  }

  /**
   * Throws unless each of the messages had one effect and, where order is promised, those of a stream came in
   * order.
   */
  async checkAndRemove(messages: number, { ordered }: { readonly ordered: boolean }): Promise<void> {
    const { rows } = await this.#client.query<{ rows: number; messages: number; late: number }>(
      `select count(*)::int as rows, count(distinct message_id)::int as messages,
         (count(*) filter (where number < previous))::int as late
       from (select message_id, number, lag(number) over (partition by stream_id order by id) as previous from effects) e`,
    );
    const [found] = rows;
    if (found?.rows !== messages || found.messages !== messages) {
      throw new Error(`${messages} messages had ${found?.rows} effects, ${found?.messages} of them had one`);
    }
    if (ordered && found.late > 0)
      throw new Error(`${found.late} effects were written after a later one of their stream`);
    await this.#client.query('truncate effects');
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
