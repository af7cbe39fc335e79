import { setTimeout as wait } from 'node:timers/promises';
import { WhizbangError } from '../errors.js';
import { serverErrorOf } from './database-error.js';

interface Retries {
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  /** Whether the call may also be made again when its answer was lost: then it may have been executed. */
  readonly alsoAfterLoss?: boolean;
}

/** Errors after which the same call fails again: it has waited for a client, or its decision is outdated. */
const hopeless = ['POOL_EXHAUSTED', 'EXPECTED_VERSION'];

/**
 * Errors of a call that an upgrade of the schema has overtaken: it has waited for the upgrade inside a function of before,
 * and goes on in functions of now, whose types or parameters are others. Nothing has happened, and made anew it is right.
 */
const overtaken = ['42703', '42804', '42883', '0A000'];

/**
 * Runs a call again while its error shows that nothing happened and that the same call may be made again.
 * Each wait is random within a limit that doubles, so that calls that collided do not collide again.
 */
export async function retrying<T>(
  call: () => Promise<T>,
  { maxRetries, retryDelayMs, alsoAfterLoss = false }: Retries,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await call();
    } catch (error) {
      const again =
        error instanceof WhizbangError &&
        (((error.retryable || (alsoAfterLoss && error.code === 'CONNECTION_LOST')) &&
          !hopeless.includes(error.code) &&
          retries < maxRetries) ||
          (retries === 0 && overtaken.includes(serverErrorOf(error)?.code ?? '')));
      if (!again) throw error;
      await wait(Math.random() * Math.min(retryDelayMs * 2 ** retries, longestWaitMs));
    }
  }
}

const longestWaitMs = 60_000;
