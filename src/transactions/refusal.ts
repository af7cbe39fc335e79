import { WhizbangError } from '../errors.js';
import { candidateOf } from './candidate.js';

/** The error for an object of a known library that is not a transaction. `pass` describes how to get one. */
export function notATransaction(got: string, pass: string, cause?: unknown): WhizbangError {
  return new WhizbangError('UNKNOWN_TRANSACTION', {
    message: `tx is ${got}. The message would not be part of your transaction.`,
    hint: pass,
    details: { got },
    cause,
  });
}

export function hasEnded(library: string, cause?: unknown): WhizbangError {
  return notATransaction(
    `a transaction of ${library} that has already ended`,
    'Await the call that sends the message before the transaction is committed or rolled back.',
    cause,
  );
}

/**
 * The error for an unknown object. It names its kind and its keys only, because a value could be a password.
 */
export function unknownTransaction(tx: unknown): WhizbangError {
  const got = kindOf(tx);
  const keys = Object.keys(candidateOf(tx) ?? {});
  const named = keys.slice(0, 12).join(', ') + (keys.length > 12 ? ', …' : '');
  return new WhizbangError('UNKNOWN_TRANSACTION', {
    message: `tx is ${got}${named === '' ? '' : ` with the keys ${named}`}, which is not a known kind of transaction.`,
    details: { got, keys },
  });
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function') return `the function ${value.name || 'without a name'}`;
  if (typeof value !== 'object') return `of type ${typeof value}`;
  if (value instanceof Promise) return 'a Promise (an await is missing)';
  return `an object of class ${(Object.getPrototypeOf(value) as object | null)?.constructor?.name ?? 'null'}`;
}
