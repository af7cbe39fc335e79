import { fromDatabaseError } from '../database/index.js';
import { WhizbangError } from '../errors.js';

/**
 * Classes of SQLSTATE that say that something in the input cannot be stored, today or tomorrow: data, a constraint,
 * a check option, a limit of the program (JSON that is too big), an exception of somebody's trigger.
 */
const classesOfInput = ['22', '23', '44', '54', 'P0'];

/** Fields of a call that come from a unit. The others are the same in every call, and no unit is to blame for them. */
const fieldOfUnit = /^p_(new|renew|outbox|inbox|receptor)_/;

/** Whether trying the units of a call one by one could find the one that is to blame. */
export function blamesInput({ code, details }: WhizbangError): boolean {
  if (code === 'EXPECTED_VERSION') return true;
  if (code === 'INVALID_REQUEST') return typeof details.field !== 'string' || fieldOfUnit.test(details.field);
  return (
    code === 'DATABASE_ERROR' &&
    typeof details.sqlState === 'string' &&
    classesOfInput.includes(details.sqlState.slice(0, 2))
  );
}

/** A RangeError is JavaScript's: the call became longer than a string can be. Smaller calls may pass. */
export function asWhizbangError(error: unknown): WhizbangError {
  if (!(error instanceof RangeError)) return fromDatabaseError(error);
  return new WhizbangError('INVALID_REQUEST', {
    message: `The call is too big to be encoded: ${error.message}`,
    hint: 'Keep what is big elsewhere and send where to find it.',
    cause: error,
  });
}
