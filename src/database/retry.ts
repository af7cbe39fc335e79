import { setTimeout as wait } from 'node:timers/promises';
import { WhizbangError } from '../errors.js';

/**
 * Runs a call again while its error shows that nothing happened and that the same call may be made again.
 * Each wait is random within a limit that doubles, so that calls that collided do not collide again.
 */
export async function retrying<T>(
  call: () => Promise<T>,
  { maxRetries, retryDelayMs }: { maxRetries: number; retryDelayMs: number },
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await call();
    } catch (error) {
      const again =
        error instanceof WhizbangError &&
        error.retryable &&
        error.code !== 'POOL_EXHAUSTED' && // it has already waited for a client
        retries < maxRetries;
      if (!again) throw error;
      await wait(Math.random() * Math.min(retryDelayMs * 2 ** retries, longestWaitMs));
    }
  }
}

const longestWaitMs = 60_000;
