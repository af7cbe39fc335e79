import { WhizbangError } from '../errors.js';

/**
 * Waits for an answer, but not for ever: over a connection that died without a word nothing comes, and no error either.
 * What was asked may have been done; who gives up destroys the connection.
 */
export async function answerWithin<T>(
  milliseconds: number | undefined,
  answer: Promise<T>,
  giveUp: (milliseconds: number) => WhizbangError = noAnswer,
): Promise<T> {
  if (milliseconds === undefined) return answer;
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(giveUp(milliseconds)), milliseconds);
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function noAnswer(milliseconds: number): WhizbangError {
  const message = `PostgreSQL did not answer within ${milliseconds / 1000} seconds.`;
  return new WhizbangError('CONNECTION_LOST', { message, details: { unansweredMs: milliseconds } });
}

/** How long nothing came, if that is how the connection was lost. */
export function unansweredMsOf({ details }: WhizbangError): number | undefined {
  return typeof details.unansweredMs === 'number' ? details.unansweredMs : undefined;
}
