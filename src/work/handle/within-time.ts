import { WhizbangError } from '../../errors.js';

/**
 * Runs something with a signal that is also aborted when its time is up, and does not wait for it any longer then:
 * a handler that hangs would hold its stream for ever.
 */
export async function withinTime<T>(
  seconds: number | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (seconds === undefined) return work(signal);
  const timeout = new AbortController();
  const error = new WhizbangError('HANDLER_TIMEOUT', {
    message: `The receptor ran longer than ${seconds} seconds.`,
  });
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      timeout.abort(error);
      reject(error);
    }, seconds * 1000);
  });
  try {
    return await Promise.race([work(AbortSignal.any([signal, timeout.signal])), timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
