// When a message that failed is tried again, and when it is given up.
import { invalidOption, resolveOptions, retryOptions } from '../options.js';

/** When a message that failed is tried again, and when it is given up. */
export interface RetryPolicy {
  /** How often it is tried before it is a dead letter. */
  readonly attempts: number;
  /** The wait after the first failure. */
  readonly firstDelaySeconds: number;
  /** No delay is longer. */
  readonly maxDelaySeconds: number;
  /** Each delay is this many times the one before. */
  readonly factor: number;
  /** By how much of itself a delay is shortened at most, at random, 0 to 1: so that not all come back at once. */
  readonly jitter: number;
  /** Errors that no retry can cure: the message is a dead letter at once. */
  readonly isFinal?: ((error: unknown) => boolean) | undefined;
}

/** Thrown by a handler that knows that no retry can help: the message is a dead letter at once. */
export class FinalError extends Error {
  override readonly name = 'FinalError';
}

/** What is given, then what the service sets for all its receptors, then the defaults. */
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
 * How long to wait after a failure. `failures` counts the ones so far, this one with it. It grows to the longest
 * delay and stays there, however many they are.
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

/** A judge that throws has not judged: the error is tried again. */
export function isFinalError(policy: Pick<RetryPolicy, 'isFinal'>, error: unknown): boolean {
  if (error instanceof FinalError) return true;
  try {
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
