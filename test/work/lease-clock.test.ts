import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeaseClock } from '../../src/work/index.js';

/** A lease of 15 seconds, of which the last 3 do not count. */
function clockAt(startMs: number) {
  const time = { ms: startMs };
  const leases = new LeaseClock({ leaseSeconds: 15, marginSeconds: 3, now: () => time.ms });
  return { leases, time };
}

describe('LeaseClock', () => {
  it('a lease counts from when its call was sent, less the margin', () => {
    const { leases, time } = clockAt(1_000);
    leases.hold(['a'], 400);
    time.ms = 12_399;
    expect(leases.isSafe('a')).toBe(true);
    expect(leases.expired()).toEqual([]);
    time.ms = 12_400;
    expect(leases.isSafe('a')).toBe(false);
    expect(leases.expired()).toEqual(['a']);
  });

  it('a lease may have ended before the answer to its call came', () => {
    const { leases } = clockAt(20_000);
    leases.hold(['a'], 1_000);
    expect(leases.isSafe('a')).toBe(false);
    expect(leases.expired()).toEqual(['a']);
  });

  it('a lease that is not held is not safe', () => {
    expect(clockAt(0).leases.isSafe('a')).toBe(false);
  });

  it('a renewed lease counts from when the renewing call was sent', () => {
    const { leases, time } = clockAt(0);
    leases.hold(['a', 'b'], 0);
    time.ms = 6_000;
    leases.renewed(['a'], 5_000);
    time.ms = 12_000;
    expect(leases.expired()).toEqual(['b']);
    time.ms = 17_000;
    expect(leases.expired()).toEqual(['a', 'b']);
  });

  it('a lease is not shortened by the answer to an older call', () => {
    const { leases, time } = clockAt(6_000);
    leases.hold(['a'], 5_000);
    leases.renewed(['a'], 1_000);
    leases.hold(['a'], 2_000);
    time.ms = 16_999;
    expect(leases.isSafe('a')).toBe(true);
  });

  it('a lease that was dropped during its renewal stays dropped', () => {
    const { leases } = clockAt(0);
    leases.hold(['a'], 0);
    leases.drop('a');
    leases.renewed(['a'], 0);
    expect(leases.isSafe('a')).toBe(false);
    expect(leases.size).toBe(0);
  });

  it('an expired lease is kept until it is dropped', () => {
    const { leases, time } = clockAt(0);
    leases.hold(['a'], 0);
    time.ms = 60_000;
    expect(leases.expired()).toEqual(['a']);
    expect(leases.expired()).toEqual(['a']);
    leases.drop('a');
    expect(leases.expired()).toEqual([]);
  });

  it('a lease is due for renewal when it is old enough and still safe', () => {
    const { leases, time } = clockAt(0);
    leases.hold(['old'], 0);
    leases.hold(['middle'], 6_000);
    leases.hold(['young'], 8_000);
    time.ms = 12_000;
    expect(leases.dueForRenewal(5)).toEqual(['middle']);
    time.ms = 11_999;
    expect(leases.dueForRenewal(5)).toEqual(['old', 'middle']);
  });

  it('the lease clock reads the monotonic clock by default', () => {
    const leases = new LeaseClock({ leaseSeconds: 15, marginSeconds: 3 });
    leases.hold(['now'], performance.now());
    leases.hold(['long ago'], performance.now() - 12_001);
    expect(leases.isSafe('now')).toBe(true);
    expect(leases.expired()).toEqual(['long ago']);
  });

  it.each([-1, 15, 16, Number.NaN])(
    'the lease clock refuses a margin of %s seconds in a lease of 15',
    (marginSeconds) => {
      expect(() => new LeaseClock({ leaseSeconds: 15, marginSeconds })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION', details: { option: 'marginSeconds' } }),
      );
    },
  );

  it.each([0, 14.9])('the lease clock accepts a margin of %s seconds in a lease of 15', (marginSeconds) => {
    expect(() => new LeaseClock({ leaseSeconds: 15, marginSeconds })).not.toThrow();
  });

  it('the lease clock answers as a look at each lease would', () => {
    const anId = fc.constantFrom('a', 'b', 'c', 'd');
    const aStep = fc.record({
      do: fc.constantFrom('hold', 'renewed', 'drop', 'look'),
      id: anId,
      delayMs: fc.integer({ min: 0, max: 14_000 }),
      passedMs: fc.integer({ min: 0, max: 4_000 }),
    });
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 50 }), (steps) => {
        const { leases, time } = clockAt(100_000);
        const sentAt = new Map<string, number>();
        for (const step of steps) {
          time.ms += step.passedMs;
          const sent = time.ms - step.delayMs;
          if (step.do === 'hold') leases.hold([step.id], sent);
          if (step.do === 'renewed') leases.renewed([step.id], sent);
          if (step.do === 'drop') leases.drop(step.id);
          if (step.do === 'drop') sentAt.delete(step.id);
          else if (step.do === 'hold' || (step.do === 'renewed' && sentAt.has(step.id))) {
            sentAt.set(step.id, Math.max(sent, sentAt.get(step.id) ?? sent));
          }
          if (step.do !== 'look') continue;
          const aged = (fromMs: number, toMs: number) =>
            [...sentAt].filter(([, at]) => time.ms - at >= fromMs && time.ms - at < toMs).map(([id]) => id);
          expect(leases.expired().sort()).toEqual(aged(12_000, Number.POSITIVE_INFINITY).sort());
          expect(leases.dueForRenewal(5).sort()).toEqual(aged(5_000, 12_000).sort());
          expect(['a', 'b', 'c', 'd'].filter((id) => leases.isSafe(id))).toEqual(aged(0, 12_000).sort());
        }
      }),
      { numRuns: 500 },
    );
  });
});
