// When a failed message is retried, and when it becomes a dead letter. Of several receptors of an event, each
// has its own policy: it is retried or given up by itself, and the dead letter comes when all missing ones are.
import { invalidOption, resolveOptions, retryOptions } from '../options.js';

/** The rules for when a failed message is retried, and when it becomes a dead letter. */
export interface RetryPolicy {
  /** The number of attempts before it becomes a dead letter. */
  readonly attempts: number;
  /** The delay after the first failure. */
  readonly firstDelaySeconds: number;
  /** The longest delay. */
  readonly maxDelaySeconds: number;
  /** The factor by which each delay is longer than the one before. */
  readonly factor: number;
  /**
   * The largest part of a delay, 0 to 1, by which it is shortened at random, so that not all retries come at
   * once.
   */
  readonly jitter: number;
  /** Whether no retry can fix this error. The message then becomes a dead letter at once. */
  readonly isFinal?: ((error: unknown) => boolean) | undefined;
}

const finalBrand = Symbol.for('whizbang.FinalError');

/**
 * An error for a handler to throw when no retry can help: the message becomes a dead letter at once. Of
 * several receptors of an event, only this one is given up, and the others go on.
 */
export class FinalError extends Error {
  override readonly name = 'FinalError';
  /** Another copy of the package, such as that of a shared library of contracts, has a class of its own. */
  readonly [finalBrand] = true;
}

/** Merges the given values, then those that the service sets for all its receptors, then the defaults. */
export function resolveRetryPolicy(owner: string, given: unknown, ofService: unknown = {}): RetryPolicy {
  const layers = [ofService, given].map((layer) => withoutUndefined(owner, layer));
  const merged = Object.assign({}, ...layers) as Partial<RetryPolicy>;
  const numbers = resolveOptions(`${owner} retry`, retryOptions, merged, ['isFinal']);
  if (merged.isFinal !== undefined && typeof merged.isFinal !== 'function') {
    throw invalidOption(
      owner,
      'retry.isFinal',
      'retry.isFinal is not a function',
      'Give (error) => true or false.',
    );
  }
  const own = layers[1] as Partial<RetryPolicy>;
  if (own.firstDelaySeconds !== undefined && own.firstDelaySeconds > numbers.maxDelaySeconds) {
    const hint = `Make it at most maxDelaySeconds, which is ${numbers.maxDelaySeconds}.`;
    throw invalidOption(
      owner,
      'retry.firstDelaySeconds',
      'retry.firstDelaySeconds is more than maxDelaySeconds',
      hint,
    );
  }
  return Object.freeze({ ...numbers, isFinal: merged.isFinal });
}

/**
 * The delay after a failure. `failures` counts the failures so far, including this one. The delay grows to
 * the longest one and stays there, however many failures follow.
 */
export function retryDelaySeconds(
  policy: RetryPolicy,
  failures: number,
  random: () => number = Math.random,
): number {
  const { firstDelaySeconds, maxDelaySeconds, factor, jitter } = policy;
  if (firstDelaySeconds === 0) return 0; // times a factor that has grown to infinity it would be NaN
  const grown = firstDelaySeconds * factor ** Math.max(0, failures - 1);
  return Math.min(grown, maxDelaySeconds) * (1 - jitter * random());
}

/** Whether the error is final. When `isFinal` itself throws, the message is retried. */
export function isFinalError(policy: Pick<RetryPolicy, 'isFinal'>, error: unknown): boolean {
  try {
    if ((error as Partial<FinalError> | null | undefined)?.[finalBrand] === true) return true;
    return policy.isFinal?.(error) === true;
  } catch {
    return false;
  }
}

function withoutUndefined(owner: string, layer: unknown): Record<string, unknown> {
  if (typeof layer !== 'object' || layer === null) {
    throw invalidOption(owner, 'retry', 'retry is not an object', 'For example retry: { attempts: 5 }.');
  }
  return Object.fromEntries(Object.entries(layer).filter(([, value]) => value !== undefined));
}
