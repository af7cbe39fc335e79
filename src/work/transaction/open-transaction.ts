// The transaction of a receptor, as the receptor sees it.
// In: its statements. Out: their answers; and, at the end, whether there is anything to commit.
// Called by poolTransaction. It never begins or rolls back, and commits when poolTransaction says so: it lets nobody else do
// so, because the completion of the message would then be a statement of its own, and what the receptor wrote gone or there twice.
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
  /** Somebody has committed or rolled back, or has tried to. */
  #ended: WhizbangError | undefined;
  /** The statement that PostgreSQL refused, after which it takes no other. */
  #refused: unknown;

  constructor(client: Queryable, pid: string | undefined) {
    this.#client = client;
    this.pid = pid;
  }

  /** What has gone through its connection, both ways. Undefined where the client does not show its socket. */
  get byteCount(): number | undefined {
    const { stream } =
      (this.#client as { readonly connection?: { readonly stream?: Partial<Socket> } }).connection ?? {};
    if (stream?.bytesRead === undefined) return undefined;
    return stream.bytesRead + (stream.bytesWritten ?? 0) - (stream.writableLength ?? 0);
  }

  /** A property, so that it may be taken off: `const { query } = ctx.tx`. */
  readonly query = (text: string, values?: unknown[]): Promise<{ rows: unknown[] }> => {
    const answer = this.#query(text, values);
    answer.catch(() => {}); // who does not await it learns of it at the end: it must not end the process
    return answer;
  };

  /** From here on nobody writes: a receptor may go on after its time was up, when another has the connection. */
  close(): void {
    this.#isOver = true;
  }

  /** Throws when what the work wrote cannot be committed any more. */
  async commit(): Promise<void> {
    this.close();
    this.#refuseEnded();
    const answer = await this.underWay.add(this.#client.query('commit'));
    // A commit after a refused statement is answered, without an error, with a rollback.
    if (commandsOf(answer).includes('ROLLBACK')) throw this.#aborted();
  }

  /** "The transaction is aborted" is only what came of it: the statement that was refused says why. */
  explain(error: unknown): unknown {
    return serverErrorOf(error)?.code === '25P02' && this.#refused !== undefined ? this.#aborted() : error;
  }

  #refuseEnded(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  async #query(text: string, values: unknown[] | undefined): Promise<{ rows: unknown[] }> {
    if (this.#isOver) throw overError();
    const word = ending.exec(text)?.[1];
    if (word !== undefined) this.#ended = notYours(word); // also if it is caught: it was not meant to go on
    this.#refuseEnded();
    try {
      const answer = await this.underWay.add(this.#client.query(text, values));
      this.#refused = undefined; // or it was undone, by a savepoint
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
      message: `A statement of this transaction had failed, and its error was caught or not awaited: ${textOf(this.#refused)}`,
      hint: 'Await every statement and let its error pass. Use a savepoint for one that may fail.',
      cause: this.#refused,
    });
  }
}

/** What ends a transaction or means to begin one; but not `rollback to savepoint`. */
const ending =
  /^(?:\s|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(commit|end|abort|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b)|begin|start\s+transaction|prepare\s+transaction)\b/i;

/** In a text of several statements the word may stand anywhere: then the server tells. */
function hasEnded(client: unknown, answer: unknown): boolean {
  const commands = commandsOf(answer);
  return commands.includes('COMMIT') || commands.includes('BEGIN') || transactionStatusOf(client) === 'I';
}

/** As node-postgres gives it: one result, or one for each statement of the text. */
function commandsOf(answer: unknown): unknown[] {
  return [answer].flat().map((result) => (result as { command?: unknown } | undefined)?.command);
}

function notYours(word: string): WhizbangError {
  return new WhizbangError('INVALID_REQUEST', {
    message: `A receptor cannot say "${word.toLowerCase()}": its transaction is committed when it returns, and rolled back when it throws.`,
    hint: 'Throw to roll back. For a part of it, use a savepoint. What must be committed by itself needs a connection of its own.',
    details: { field: 'text' },
  });
}

function endedError(): WhizbangError {
  return new WhizbangError('UNKNOWN_TRANSACTION', {
    message:
      'The receptor has ended its own transaction. What it wrote before may be committed, and is done again.',
    hint: 'Leave commit and rollback to whizbang: it commits when the receptor returns and rolls back when it throws.',
  });
}

function overError(): WhizbangError {
  return new WhizbangError('DISPOSED', {
    message: 'The transaction of this receptor is over.',
    hint: 'Await everything that uses ctx.tx before the receptor returns, and stop when ctx.signal is aborted.',
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : 'its text is not known';
}
