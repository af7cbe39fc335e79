// Every way to wait with a limit.
// In: work under way, and what may end the waiting. Out: its result, or the result of the limit.
// Called by the code that waits for a database, a handler or a shutdown. Work
// that is no longer awaited goes on: nothing here can stop it, so a caller
// that gives up destroys the connection or keeps late work from writing.
import { WhizbangError } from './errors.js';

/** Sets up a limit, which may settle the waiting. Returns a function that removes it. */
type Arm<T> = (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void;

async function race<T, Late>(work: () => Promise<T>, arm: Arm<Late>): Promise<T | Late> {
  let disarm = () => {};
  const limit = new Promise<Late>((resolve, reject) => {
    disarm = arm(resolve, reject);
  });
  try {
    return await Promise.race([work(), limit]);
  } finally {
    disarm();
  }
}

function after(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, milliseconds);
  return () => clearTimeout(timer);
}

/**
 * Waits for an answer of the database, within a limit: over a connection that died silently neither an answer
 * nor an error comes. The statement may have been executed. A caller that gives up destroys the connection.
 */
export async function answerWithin<T>(
  milliseconds: number | undefined,
  answer: Promise<T>,
  giveUp: (milliseconds: number) => WhizbangError = noAnswer,
): Promise<T> {
  if (milliseconds === undefined) return answer;
  return race<T, never>(
    () => answer,
    (_, reject) => after(milliseconds, () => reject(giveUp(milliseconds))),
  );
}

function noAnswer(milliseconds: number): WhizbangError {
  const message = `PostgreSQL did not answer within ${milliseconds / 1000} seconds.`;
  return new WhizbangError('CONNECTION_LOST', { message, details: { unansweredMs: milliseconds } });
}

/** Returns how long no answer came, if the connection was lost in that way. */
export function unansweredMsOf({ details }: WhizbangError): number | undefined {
  return typeof details.unansweredMs === 'number' ? details.unansweredMs : undefined;
}

/**
 * Runs a handler with a signal that is also aborted when its time is up. After that it
 * does not wait any longer: a handler that hangs would hold its stream without end.
 */
export function withinTime<T>(
  seconds: number | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (seconds === undefined) return work(signal);
  const timeout = new AbortController();
  const error = new WhizbangError('HANDLER_TIMEOUT', {
    message: `The receptor ran longer than ${seconds} seconds.`,
  });
  return race<T, never>(
    () => work(AbortSignal.any([signal, timeout.signal])),
    (_, reject) =>
      after(seconds * 1000, () => {
        timeout.abort(error);
        reject(error);
      }),
  );
}

/** Whether the work was done before the deadline, by `performance.now()`. */
export async function beforeDeadline(work: Promise<unknown>, deadlineMs: number): Promise<boolean> {
  return race<boolean, boolean>(
    () => work.then(() => true),
    (resolve) => after(Math.max(deadlineMs - performance.now(), 0), () => resolve(false)),
  );
}

interface AbortOptions {
  /** How long to wait for the work after the signal, by its reason. Default: not at all. */
  readonly graceMs?: (reason: unknown) => number;
  /** Returns the error to reject with. Default: the reason of the signal. */
  readonly giveUp?: (reason: unknown) => unknown;
}

/** Waits until the signal is aborted, and for some grace after that. */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: Promise<T>,
  { graceMs, giveUp = (reason) => reason }: AbortOptions = {},
): Promise<T> {
  if (signal === undefined) return work;
  return race<T, never>(
    () => work,
    (_, reject) => {
      let cancel = () => {};
      const end = () => reject(giveUp(signal.reason));
      const onAbort = () => {
        if (graceMs === undefined) end();
        else cancel = after(graceMs(signal.reason), end);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      return () => {
        cancel();
        signal.removeEventListener('abort', onAbort);
      };
    },
  );
}
