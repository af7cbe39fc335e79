import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type NumberOption, retryOptions } from '../../src/options.js';
import {
  FinalError,
  isFinalError,
  type RetryPolicy,
  resolveRetryPolicy,
  retryDelaySeconds,
} from '../../src/receptors/index.js';
import { refusalOf } from '../messages/refusal.js';

const policy = (given: Partial<RetryPolicy> = {}) => resolveRetryPolicy('Test', given);

const policies = fc
  .record({
    firstDelaySeconds: fc.double({ min: 0, max: 86_400, noNaN: true }),
    maxDelaySeconds: fc.double({ min: 0, max: 604_800, noNaN: true }),
    factor: fc.double({ min: 1, max: 100, noNaN: true }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .filter(({ firstDelaySeconds, maxDelaySeconds }) => firstDelaySeconds <= maxDelaySeconds)
  .map(policy);
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const failures = fc.integer({ min: 1, max: 2 ** 31 - 1 });

describe('The delay before a retry', () => {
  it('the delay before a retry grows from a second to five minutes by default', () => {
    const delays = [1, 2, 3, 9, 10, 11, 1000].map((n) => retryDelaySeconds(policy(), n, () => 0));
    expect(delays).toEqual([1, 2, 4, 256, 300, 300, 300]);
  });

  it('the delay before a retry is shortened by a quarter at most by default', () => {
    expect(retryDelaySeconds(policy(), 3, () => 0.999999)).toBeCloseTo(3, 3);
  });

  it('the delay before a retry lies between zero and the longest delay, after any number of failures', () => {
    fc.assert(
      fc.property(policies, failures, randoms, (given, count, random) => {
        const delay = retryDelaySeconds(given, count, () => random);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(given.maxDelaySeconds);
      }),
    );
  });

  it('the delay before a retry never falls when another failure is added, but for the jitter', () => {
    fc.assert(
      fc.property(policies, failures, randoms, (given, count, random) => {
        const [now, next] = [count, count + 1].map((n) => retryDelaySeconds(given, n, () => random));
        expect(next).toBeGreaterThanOrEqual(now as number);
      }),
    );
  });

  it('the delays of messages that failed together differ', () => {
    const delays = new Set(Array.from({ length: 50 }, () => retryDelaySeconds(policy(), 5)));
    expect(delays.size).toBeGreaterThan(40);
  });
});

describe('A retry policy', () => {
  it('a retry policy has the documented defaults', () => {
    expect(policy()).toEqual({
      attempts: 10,
      firstDelaySeconds: 1,
      maxDelaySeconds: 300,
      factor: 2,
      jitter: 0.25,
      isFinal: undefined,
    });
    expect(Object.isFrozen(policy())).toBe(true);
  });

  it('a retry policy takes the options of the receptor, then of the service, then the defaults', () => {
    const isFinal = () => true;
    const resolved = resolveRetryPolicy(
      'Test',
      { attempts: 3, factor: undefined },
      { attempts: 5, factor: 4, isFinal },
    );
    expect(resolved).toMatchObject({ attempts: 3, factor: 4, jitter: 0.25, isFinal });
  });

  it.each(Object.entries<NumberOption>(retryOptions))(
    'a retry policy keeps %s within its bounds',
    async (name, option) => {
      const first = name === 'firstDelaySeconds' ? { maxDelaySeconds: option.max } : {};
      const rest = name === 'maxDelaySeconds' ? { firstDelaySeconds: 0 } : first;
      for (const value of [option.min, option.max]) {
        expect(policy({ ...rest, [name]: value })).toMatchObject({ [name]: value });
      }
      for (const value of [option.min - 0.5, option.max + 1, Number.NaN, '1']) {
        const error = await refusalOf(() => policy({ ...rest, [name]: value }), 'INVALID_OPTION');
        expect(error.details.option).toBe(name);
      }
    },
  );

  it('a retry policy is refused when its first delay is longer than its longest', async () => {
    const error = await refusalOf(
      () => policy({ firstDelaySeconds: 10, maxDelaySeconds: 5 }),
      'INVALID_OPTION',
    );
    expect(error.details.option).toBe('retry.firstDelaySeconds');
  });

  it('a retry policy can have a longest delay below the default first delay', () => {
    expect(retryDelaySeconds(policy({ maxDelaySeconds: 0.2 }), 1, () => 0)).toBe(0.2);
  });
});

describe('Final errors', () => {
  it('a FinalError of a second copy of the package is final', async () => {
    vi.resetModules();
    const copy = await import('../../src/receptors/index.js');
    const error = new copy.FinalError('closed');
    expect(error).not.toBeInstanceOf(FinalError);
    expect(isFinalError(policy(), error)).toBe(true);
  });

  it('a FinalError is final', () => {
    const cause = new Error('x');
    const error = new FinalError('the account is closed', { cause });
    expect(error).toMatchObject({ name: 'FinalError', message: 'the account is closed', cause });
    expect(isFinalError(policy(), error)).toBe(true);
  });

  it('an error is final when the policy says so', () => {
    const judged = policy({ isFinal: (error) => error instanceof RangeError });
    expect(isFinalError(judged, new RangeError())).toBe(true);
    expect(isFinalError(judged, new TypeError())).toBe(false);
    expect(isFinalError(policy(), new RangeError())).toBe(false);
  });

  it('an error that the policy fails to judge is retried', () => {
    const broken = policy({
      isFinal: (error) => (error as { response: { status: number } }).response.status === 400,
    });
    expect(isFinalError(broken, new Error('no response'))).toBe(false);
  });
});
