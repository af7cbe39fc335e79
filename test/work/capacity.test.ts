import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Capacity } from '../../src/work/streams/capacity.js';

describe('How much an instance holds', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const after = (capacity: Capacity, ms: number, handled: number) => {
    for (let i = 0; i < handled; i++) capacity.handled();
    vi.advanceTimersByTime(ms);
    return capacity.get();
  };

  it('an instance holds the lower bound at first, and while it handles little', () => {
    const capacity = new Capacity(100, 500);
    expect(capacity.get()).toBe(100);
    expect(after(capacity, 1000, 20)).toBe(100);
  });

  it('an instance holds what it handles in 200 ms, up to the upper bound', () => {
    const capacity = new Capacity(100, 500);
    expect(after(capacity, 1000, 1500)).toBe(300);
    expect(after(capacity, 1000, 9000)).toBe(500);
  });

  it('an instance holds less when it handles less', () => {
    const capacity = new Capacity(100, 500);
    after(capacity, 200, 1000);
    expect(after(capacity, 200, 150)).toBe(150);
    expect(after(capacity, 60_000, 10)).toBe(100);
  });

  it('the capacity of an instance does not change within 50 ms', () => {
    const capacity = new Capacity(100, 500);
    expect(after(capacity, 50, 400)).toBe(100);
  });

  it('an instance never holds more than the upper bound, also when that is below the lower one', () => {
    expect(new Capacity(100, 7).get()).toBe(7);
  });
});
