// Connections that broke, were never there, or have fallen silent: how that is told from other errors, and how often it
// costs a message no attempt. Asked by the runner of receptors and by the transactions it watches.
import { codeOf, type Queryable, serverErrorOf, signOfLife } from '../../database/index.js';
import { describeError } from '../../describe-error.js';
import { WhizbangError } from '../../errors.js';
import { answerWithin } from '../../time-limits.js';

const forgivenTimes = 3;
const mostRemembered = 1_000;

/**
 * A connection that breaks is no fault of the message whose handler had it: PostgreSQL was restarted, say, and that
 * costs no attempt. But a message may be what breaks it, so it is forgiven a few times only.
 */
export class BrokenConnections {
  readonly #times = new Map<string, number>();

  /** `isUnknown`: its commit was not answered, so it may be done. */
  forgives(messageId: string, error: unknown, isUnknown: boolean): boolean {
    if (!isUnknown && !isBrokenConnection(error)) return false;
    const times = (this.#times.get(messageId) ?? 0) + 1;
    this.#times.delete(messageId);
    if (times > forgivenTimes) return false;
    if (this.#times.size >= mostRemembered) this.#times.clear(); // others have handled those by now
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

/** There was no connection to begin with: the pool is empty, the server full, starting up or not there. */
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

/** It broke, or has fallen silent. */
export function isBrokenConnection(error: unknown): boolean {
  const server = serverErrorOf(error);
  const code =
    server === undefined && error instanceof WhizbangError ? error.code : server && codeOf(server.code);
  return code === 'CONNECTION_LOST' || code === 'CONNECTION_FAILED';
}

/** What came of it, as an error of the connection. */
export function brokenError(cause: unknown): WhizbangError {
  return new WhizbangError('CONNECTION_LOST', {
    message: `The connection of this transaction broke: ${cause instanceof Error ? cause.message : describeError(cause)}`,
    cause,
  });
}

/**
 * Whether work in a transaction of a library has failed because its connection broke. A library says that in its own words,
 * and what a receptor makes of them may be anything: so the connection is asked, unless the error tells by itself.
 */
export async function hasBroken(db: Queryable, cause: unknown, answerMs: number): Promise<boolean> {
  const told = tells(cause);
  if (told !== undefined) return told;
  try {
    await answerWithin(answerMs, signOfLife(db));
    return false;
  } catch (error) {
    // Prisma says that the transaction is over: its own time limit is no fault of the connection.
    return tells(error) ?? (error as { readonly code?: unknown }).code !== 'P2028';
  }
}

/** Undefined: it is not known whose error it is. */
function tells(error: unknown): boolean | undefined {
  // CONNECTION_CLOSED and the like of postgres.js. One more statement over that connection would end the process (3.4.9).
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (isBrokenConnection(error) || String(code).startsWith('CONNECTION_')) return true;
  return error instanceof WhizbangError || serverErrorOf(error) !== undefined ? false : undefined;
}
