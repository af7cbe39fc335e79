import { fromDatabaseError } from '../database/index.js';
import { WhizbangError } from '../errors.js';

/**
 * Classes of SQLSTATE which mean that something in the input cannot be
 * stored, also not on a retry: data, a constraint, a check option, a limit
 * of the program (JSON that is too big), an exception of a user's trigger.
 */
const classesOfInput = ['22', '23', '44', '54', 'P0'];

/**
 * Fields of a call that come from a unit. The others are
 * the same in every call: no unit causes an error in them.
 */
const fieldOfUnit = /^p_(new|renew|outbox|inbox|receptor)_/;

/** Whether the error may come from one unit of the call, so that sending the units in parts could find it. */
export function mayComeFromUnit({ code, details }: WhizbangError): boolean {
  if (code === 'EXPECTED_VERSION') return true;
  if (code === 'INVALID_REQUEST') return typeof details.field !== 'string' || fieldOfUnit.test(details.field);
  return (
    code === 'DATABASE_ERROR' &&
    typeof details.sqlState === 'string' &&
    classesOfInput.includes(details.sqlState.slice(0, 2))
  );
}

/**
 * Converts what a call threw. A RangeError comes from JavaScript: the
 * call became longer than a string can be. Smaller calls may pass.
 */
export function asWhizbangError(error: unknown): WhizbangError {
  if (!(error instanceof RangeError)) return fromDatabaseError(error);
  return new WhizbangError('INVALID_REQUEST', {
    message: `The call is too large to be encoded: ${error.message}`,
    hint: 'Store large data elsewhere and send a reference to it.',
    cause: error,
  });
}
