import { setTimeout as pause } from 'node:timers/promises';
import { isOutage } from '../database/index.js';
import { outageFacts } from '../describe-error.js';
import type { Logger } from '../logger.js';

interface Outlasting {
  readonly logger: Logger;
  /** Ends the waiting. */
  readonly signal: AbortSignal | undefined;
  /** Whether there is no hope for an end of the outage. */
  readonly isHopeless: () => boolean;
}

const firstPauseMs = 50;
/** As the workers. */
const longestPauseMs = 2_000;

/**
 * Asks again until the database answers, however long it is away, and logs the beginning and the end of the outage.
 * Returns undefined when it was aborted meanwhile.
 */
export async function outlast<T>(
  ask: () => Promise<T>,
  { logger, signal, isHopeless }: Outlasting,
): Promise<T | undefined> {
  let awaySince: number | undefined;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const answer = await ask();
      if (awaySince !== undefined) {
        const seconds = Math.round((performance.now() - awaySince) / 100) / 10;
        logger.warn({ seconds }, 'PostgreSQL answers again; events.all goes on');
      }
      return answer;
    } catch (error) {
      if (!isOutage(error) || isHopeless()) throw error;
      if (awaySince === undefined) {
        awaySince = performance.now();
        logger.warn(outageFacts(error), 'PostgreSQL does not answer; events.all goes on when it does');
      }
    }
    await pause(pauseMs * (0.5 + Math.random() / 2), undefined, signal === undefined ? {} : { signal }).catch(
      () => {},
    );
    if (signal?.aborted) return undefined;
  }
}
