import { WhizbangError } from '../../errors.js';
import { ReceptorError, UnfinishedReceptors } from './receptor-error.js';

/**
 * How long a message of a newer version waits before it is looked at again. Its stream waits with it: an instance of
 * the newer code should not have to wait long, and many streams that wait should not make many calls.
 */
export const tooNewSeconds = 10;

/**
 * Returns the error if the message was not handled only because it is of a newer version than this code knows. That is
 * no failure: newer code, which is perhaps being rolled out, will handle it.
 */
export function tooNewError(thrown: unknown): WhizbangError | undefined {
  const causes =
    thrown instanceof UnfinishedReceptors
      ? thrown.failed.map(({ cause }) => cause)
      : [thrown instanceof ReceptorError ? thrown.cause : thrown];
  return causes.length > 0 && causes.every(isTooNew) ? causes[0] : undefined;
}

const isTooNew = (error: unknown): error is WhizbangError =>
  error instanceof WhizbangError && error.code === 'MESSAGE_TOO_NEW';
