import { WhizbangError } from '../errors.js';

/**
 * pg makes something of any text: it would look for a host called "base" and say that it is not there. The text itself
 * may hold a password, and is not in the error.
 */
export function refuseConnectionString(owner: string, option: string, value: unknown): void {
  if (typeof value === 'string' && /^(postgres(ql)?:\/\/|socket:|\/)/i.test(value)) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `${owner}: ${option} is ${typeof value === 'string' ? 'not a URL of PostgreSQL' : `of type ${typeof value}`}.`,
    hint: 'Write postgres://user@host:5432/database, with special characters of the password percent-encoded.',
    details: { option },
  });
}
