// How the page reads: in a transaction that cannot write, with a time limit, and given up when nobody waits for the answer.
// In: a schema of the list, a question. Out: rows. Nothing but this asks the database for the page, except the actions.
import {
  type ConnectionPool,
  fromDatabaseError,
  pidOf,
  type Queryable,
  quoteSchema,
  serverErrorOf,
  withPooledClient,
} from '../../database/index.js';
import { Refusal } from '../answers.js';

type Ask<T> = (db: Queryable, schema: string) => Promise<T>;

/** How long a question may take: what takes longer is not for a page. */
const statementMs = 10_000;

export class Reader {
  readonly #pool: ConnectionPool;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /** `signal`: the statement is cancelled in the server when it is aborted. */
  async read<T>(schema: string, ask: Ask<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await withPooledClient(this.#pool, (db) => this.#inReadOnly(db, schema, ask, signal));
    } catch (error) {
      throw refusalOf(error, schema);
    }
  }

  async #inReadOnly<T>(db: Queryable, schema: string, ask: Ask<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const begun = await db.query(
      `begin read only; set local statement_timeout = ${statementMs}; select pg_backend_pid()::text as pid`,
    );
    const pid = pidOf(begun);
    const cancel = () => {
      if (pid !== undefined) void this.#cancel(pid).catch(() => {});
    };
    signal?.addEventListener('abort', cancel);
    try {
      return await ask(db, quoteSchema(schema));
    } finally {
      signal?.removeEventListener('abort', cancel);
      await db.query('rollback').catch(() => {}); // there is nothing to keep
    }
  }

  async #cancel(pid: string): Promise<void> {
    await withPooledClient(this.#pool, (db) => db.query('select pg_cancel_backend($1::int)', [pid]));
  }
}

/** As JSON: what a pool makes of times and numbers is its owner's choice. */
export async function rowsOf<Row>(db: Queryable, text: string, values: unknown[] = []): Promise<Row[]> {
  const answer = await db.query(`select coalesce(json_agg(r), '[]')::text as rows from (${text}) r`, values);
  return JSON.parse((answer.rows as { rows: string }[])[0]?.rows ?? '[]') as Row[];
}

/** What people can do something about is told; the rest stays an error. */
function refusalOf(error: unknown, schema: string): unknown {
  if (error instanceof Refusal) return error;
  const { code } = serverErrorOf(error) ?? {};
  if (code === '42501')
    return new Refusal(403, `The role of the page may not read this in the schema ${schema}.`);
  if (code === '57014')
    return new Refusal(504, `The answer took longer than ${statementMs / 1000} s, and was given up.`);
  if (code === '42P01' || code === '3F000' || code === '42883')
    return new Refusal(
      404,
      `The schema ${schema} is not there, or not migrated to this version: run whizbang migrate.`,
    );
  return fromDatabaseError(error);
}
