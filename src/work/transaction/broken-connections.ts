// Connections that broke, could not be made, or no longer answer: how these errors are recognized, and how
// often they cost a message no attempt. Called by the runner of receptors and by the transactions that are
// monitored.
import { codeOf, type Queryable, serverErrorOf, signOfLife } from '../../database/index.js';
import { describeError } from '../../describe-error.js';
import { WhizbangError } from '../../errors.js';
import { answerWithin } from '../../time-limits.js';

const forgivenTimes = 3;
const mostRemembered = 1_000;

/**
 * Counts broken connections by message. A broken connection is usually not the fault of the message, for
 * example when PostgreSQL was restarted, and costs no attempt. But the message may be the cause, so this
 * holds only a few times.
 */
export class BrokenConnections {
  readonly #times = new Map<string, number>();

  /** Whether the error costs no attempt. `isUnknown`: the commit was not answered, and may have succeeded. */
  forgives(messageId: string, error: unknown, isUnknown: boolean): boolean {
    if (!isUnknown && !isBrokenConnection(error)) return false;
    const times = (this.#times.get(messageId) ?? 0) + 1;
    this.#times.delete(messageId);
    if (times > forgivenTimes) return false;
    if (this.#times.size >= mostRemembered) this.#times.clear(); // other instances have handled those by now
    this.#times.set(messageId, times);
    return true;
  }

  has(messageId: string): boolean {
    return this.#times.has(messageId);
  }

  forget(messageId: string): void {
    this.#times.delete(messageId);
  }
}

/** Whether there was no connection: the pool is exhausted, the server full, starting up or not reachable. */
export function isNoConnection(error: unknown): boolean {
  if (
    error instanceof WhizbangError &&
    (error.code === 'CONNECTION_FAILED' || error.code === 'POOL_EXHAUSTED')
  ) {
    return true;
  }
  const { code = '' } = serverErrorOf(error) ?? {};
  return code.startsWith('53') || code === '57P03';
}

/** Whether the connection broke, or no longer answers. */
export function isBrokenConnection(error: unknown): boolean {
  const server = serverErrorOf(error);
  const code =
    server === undefined && error instanceof WhizbangError ? error.code : server && codeOf(server.code);
  return code === 'CONNECTION_LOST' || code === 'CONNECTION_FAILED';
}

/** Wraps the error that followed as an error of the connection. */
export function brokenError(cause: unknown): WhizbangError {
  return new WhizbangError('CONNECTION_LOST', {
    message: `The connection of this transaction broke: ${cause instanceof Error ? cause.message : describeError(cause)}`,
    cause,
  });
}

/**
 * Whether work in a transaction of a library failed because its connection broke. Each library has its own
 * errors for that, and a receptor may replace them. So the connection is probed, unless the error itself is
 * conclusive.
 */
export async function hasBroken(db: Queryable, cause: unknown, answerMs: number): Promise<boolean> {
  const told = tells(cause);
  if (told !== undefined) return told;
  try {
    await answerWithin(answerMs, signOfLife(db));
    return false;
  } catch (error) {
    // P2028 of Prisma: the transaction is closed by its own time limit, which is not a broken connection.
    return tells(error) ?? (error as { readonly code?: unknown }).code !== 'P2028';
  }
}

/** Returns whether the error means a broken connection. Undefined: the error does not show its origin. */
function tells(error: unknown): boolean | undefined {
  // CONNECTION_CLOSED and similar codes of postgres.js. Another statement over that connection would end the
  // process (3.4.9).
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (isBrokenConnection(error) || String(code).startsWith('CONNECTION_')) return true;
  return error instanceof WhizbangError || serverErrorOf(error) !== undefined ? false : undefined;
}
