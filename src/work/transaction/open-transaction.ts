// The transaction of a receptor, as the receptor sees it.
// In: its statements. Out: their answers; and, at the end, whether there is anything to commit.
// Called by poolTransaction. It never begins or rolls back, and commits only when poolTransaction calls
// `commit`. It lets no other code end the transaction: the completion of the message would then be a
// statement of its own, and the receptor's writes would be lost or done twice.
import type { Socket } from 'node:net';
import { type Queryable, serverErrorOf } from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { transactionStatusOf } from '../../transactions/index.js';
import { StatementsUnderWay } from './statements-under-way.js';

export class OpenTransaction implements Queryable {
  readonly #client: Queryable;
  /** The id of its session. */
  readonly pid: string | undefined;
  readonly underWay = new StatementsUnderWay();
  #isOver = false;
  /** Set when the receptor has committed or rolled back, or has tried to. */
  #ended: WhizbangError | undefined;
  /** Error of the statement that PostgreSQL refused. After it, PostgreSQL refuses all others. */
  #refused: unknown;

  constructor(client: Queryable, pid: string | undefined) {
    this.#client = client;
    this.pid = pid;
  }

  /** Bytes that have passed its connection, both ways. Undefined if the client does not expose its socket. */
  get byteCount(): number | undefined {
    const { stream } =
      (this.#client as { readonly connection?: { readonly stream?: Partial<Socket> } }).connection ?? {};
    if (stream?.bytesRead === undefined) return undefined;
    return stream.bytesRead + (stream.bytesWritten ?? 0) - (stream.writableLength ?? 0);
  }

  /** Runs a statement. It is a property, so that it can be destructured: `const { query } = ctx.tx`. */
  readonly query = (text: string, values?: unknown[]): Promise<{ rows: unknown[] }> => {
    const answer = this.#query(text, values);
    answer.catch(() => {}); // if it is not awaited, the commit fails instead: it must not end the process
    return answer;
  };

  /** Refuses further statements: a receptor may go on after its time, when another has the connection. */
  close(): void {
    this.#isOver = true;
  }

  /** Commits. Throws when the writes can no longer be committed. */
  async commit(): Promise<void> {
    this.close();
    this.#refuseEnded();
    const answer = await this.underWay.add(this.#client.query('commit'));
    // PostgreSQL answers a commit after a refused statement with a rollback, without an error.
    if (hasRun(answer, 'ROLLBACK')) throw this.#aborted();
  }

  /** Replaces "the transaction is aborted" by its cause: the error of the statement that was refused. */
  explain(error: unknown): unknown {
    return serverErrorOf(error)?.code === '25P02' && this.#refused !== undefined ? this.#aborted() : error;
  }

  #refuseEnded(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  async #query(text: string, values: unknown[] | undefined): Promise<{ rows: unknown[] }> {
    if (this.#isOver) throw overError();
    const word = ending.exec(text)?.[1];
    // Kept even if the receptor catches the error: it wanted to end the transaction.
    if (word !== undefined) this.#ended = notYours(word);
    this.#refuseEnded();
    try {
      const answer = await this.underWay.add(this.#client.query(text, values));
      this.#refused = undefined; // none was refused, or a rollback to a savepoint has undone it
      if (hasEnded(this.#client, answer)) this.#ended = endedError();
      this.#refuseEnded();
      return answer;
    } catch (error) {
      const code = serverErrorOf(error)?.code;
      if (code !== undefined && code !== '25P02') this.#refused ??= error;
      throw error;
    }
  }

  #aborted(): WhizbangError {
    return new WhizbangError('TRANSACTION_ABORTED', {
      message: `A statement of this transaction failed, and its error was caught or not awaited: ${textOf(this.#refused)}`,
      hint: 'Await every statement and do not catch its error. Use a savepoint for a statement that may fail.',
      cause: this.#refused,
    });
  }
}

/** Matches statements that end or begin a transaction, but not `rollback to savepoint`. */
const ending =
  /^(?:\s|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(commit|end|abort|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b)|begin|start\s+transaction|prepare\s+transaction)\b/i;

/** Whether the answer shows an end: `ending` does not find one inside a text of several statements. */
function hasEnded(client: unknown, answer: unknown): boolean {
  return hasRun(answer, 'COMMIT') || hasRun(answer, 'BEGIN') || transactionStatusOf(client) === 'I';
}

/** Whether a command is in an answer of node-postgres: one result, or one for each statement of the text. */
function hasRun(answer: unknown, command: string): boolean {
  if (Array.isArray(answer)) return answer.some((result) => hasRun(result, command));
  return (answer as { readonly command?: unknown } | undefined)?.command === command;
}

function notYours(word: string): WhizbangError {
  return new WhizbangError('INVALID_REQUEST', {
    message: `A receptor cannot run "${word.toLowerCase()}": its transaction is committed when it returns, and rolled back when it throws.`,
    hint: 'Throw an error to roll back. Use a savepoint to roll back a part. Use another connection for what must be committed separately.',
    details: { field: 'text' },
  });
}

function endedError(): WhizbangError {
  return new WhizbangError('UNKNOWN_TRANSACTION', {
    message:
      'The receptor has ended its own transaction. What it wrote before may be committed, and will be written again.',
    hint: 'Leave commit and rollback to whizbang: it commits when the receptor returns and rolls back when it throws.',
  });
}

function overError(): WhizbangError {
  return new WhizbangError('DISPOSED', {
    message: 'The transaction of this receptor has ended.',
    hint: 'Await everything that uses ctx.tx before the receptor returns, and stop when ctx.signal is aborted.',
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : 'its text is not known';
}
