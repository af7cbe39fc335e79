import { answerWithin, type Queryable, serverErrorOf } from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { isBrokenConnection } from './broken-connections.js';

/**
 * Whether work in a transaction of a library has failed because its connection broke. A library says that in its own words,
 * and what a receptor makes of them may be anything: so the connection is asked, unless the error tells by itself.
 */
export async function hasBroken(db: Queryable, cause: unknown, answerMs: number): Promise<boolean> {
  const told = tells(cause);
  if (told !== undefined) return told;
  try {
    await answerWithin(answerMs, db.query('select 1'));
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
