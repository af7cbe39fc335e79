import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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
  it('grows from a second to five minutes by default', () => {
    const delays = [1, 2, 3, 9, 10, 11, 1000].map((n) => retryDelaySeconds(policy(), n, () => 0));
    expect(delays).toEqual([1, 2, 4, 256, 300, 300, 300]);
  });

  it('is shortened by a quarter at most by default', () => {
    expect(retryDelaySeconds(policy(), 3, () => 0.999999)).toBeCloseTo(3, 3);
  });

  it('is a number from zero to the longest delay, however often it has failed', () => {
    fc.assert(
      fc.property(policies, failures, randoms, (given, count, random) => {
        const delay = retryDelaySeconds(given, count, () => random);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(given.maxDelaySeconds);
      }),
    );
  });

  it('never falls when another failure is added, but for the jitter', () => {
    fc.assert(
      fc.property(policies, failures, randoms, (given, count, random) => {
        const [now, next] = [count, count + 1].map((n) => retryDelaySeconds(given, n, () => random));
        expect(next).toBeGreaterThanOrEqual(now as number);
      }),
    );
  });

  it('differs between two that failed together', () => {
    const delays = new Set(Array.from({ length: 50 }, () => retryDelaySeconds(policy(), 5)));
    expect(delays.size).toBeGreaterThan(40);
  });
});

describe('A retry policy', () => {
  it('has the defaults of the table', () => {
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

  it('takes what the receptor says, then what the service says, then the default', () => {
    const isFinal = () => true;
    const resolved = resolveRetryPolicy(
      'Test',
      { attempts: 3, factor: undefined },
      { attempts: 5, factor: 4, isFinal },
    );
    expect(resolved).toMatchObject({ attempts: 3, factor: 4, jitter: 0.25, isFinal });
  });

  it.each(Object.entries<NumberOption>(retryOptions))('keeps %s within its bounds', async (name, option) => {
    const first = name === 'firstDelaySeconds' ? { maxDelaySeconds: option.max } : {};
    const rest = name === 'maxDelaySeconds' ? { firstDelaySeconds: 0 } : first;
    for (const value of [option.min, option.max]) {
      expect(policy({ ...rest, [name]: value })).toMatchObject({ [name]: value });
    }
    for (const value of [option.min - 0.5, option.max + 1, Number.NaN, '1']) {
      const error = await refusalOf(() => policy({ ...rest, [name]: value }), 'INVALID_OPTION');
      expect(error.details.option).toBe(name);
    }
  });

  it('is refused when its first delay is longer than its longest', async () => {
    const error = await refusalOf(
      () => policy({ firstDelaySeconds: 10, maxDelaySeconds: 5 }),
      'INVALID_OPTION',
    );
    expect(error.details.option).toBe('retry.firstDelaySeconds');
  });

  it('may have a longest delay below the default of the first', () => {
    expect(retryDelaySeconds(policy({ maxDelaySeconds: 0.2 }), 1, () => 0)).toBe(0.2);
  });
});

describe('An error', () => {
  it('is final when the handler says so by throwing a FinalError', () => {
    const cause = new Error('x');
    const error = new FinalError('the account is closed', { cause });
    expect(error).toMatchObject({ name: 'FinalError', message: 'the account is closed', cause });
    expect(isFinalError(policy(), error)).toBe(true);
  });

  it('is final when the policy says so', () => {
    const judged = policy({ isFinal: (error) => error instanceof RangeError });
    expect(isFinalError(judged, new RangeError())).toBe(true);
    expect(isFinalError(judged, new TypeError())).toBe(false);
    expect(isFinalError(policy(), new RangeError())).toBe(false);
  });

  it('is tried again when the policy cannot judge it', () => {
    const broken = policy({
      isFinal: (error) => (error as { response: { status: number } }).response.status === 400,
    });
    expect(isFinalError(broken, new Error('no response'))).toBe(false);
  });
});
