import { codeOf, serverErrorOf } from '../../database/index.js';
import { describeError } from '../../describe-error.js';
import { WhizbangError } from '../../errors.js';

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
