import { WhizbangError, type WhizbangErrorCode } from '../errors.js';

/** Whether the database is unreachable, or cannot write for any client: what was asked is not the cause. */
export function isOutage(error: unknown): boolean {
  return error instanceof WhizbangError && outages.has(error.code);
}

const outages: ReadonlySet<WhizbangErrorCode> = new Set([
  'CONNECTION_FAILED',
  'CONNECTION_LOST',
  'POOL_EXHAUSTED',
  'READ_ONLY_DATABASE',
  'DATABASE_EXHAUSTED',
]);
