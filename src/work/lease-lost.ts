import { WhizbangError } from '../errors.js';

/** Whether this is the end of a lease: of an error, or of the reason of an aborted signal. */
export const isLeaseLost = (error: unknown): boolean =>
  error instanceof WhizbangError && error.code === 'LEASE_LOST';
