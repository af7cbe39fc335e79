// When a strategy tries again by itself. The timers are the test's, so that no test waits and none depends on the clock.
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import type { NewOutboxMessage } from '../../src/message.js';
import { createStrategy, type WorkCoordinatorStrategy } from '../../src/strategies/index.js';
import { ScriptedCoordinator } from './scripted-coordinator.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const options = { intervalMs: 100, onError: () => {} };
const failing = (times: number) => new ScriptedCoordinator(Array.from({ length: times }, () => 'unsent'));
const send = (strategy: WorkCoordinatorStrategy, messageId: string) =>
  strategy.queueOutboxMessage({ messageId } as NewOutboxMessage);

/** Lets the calls that are due be made and answered. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn();
}

const lastTimer = (made: MockInstance<typeof setTimeout>) =>
  made.mock.results[made.mock.results.length - 1]?.value as NodeJS.Timeout;

/** The delays after which timers went off, until there is none. */
async function pauses(limit: number): Promise<number[]> {
  const delays: number[] = [];
  for (; vi.getTimerCount() > 0 && delays.length < limit; await settle()) {
    const before = Date.now();
    vi.advanceTimersToNextTimer();
    delays.push(Date.now() - before);
  }
  return delays;
}

describe.each(['immediate', 'interval'] as const)('Pauses of the strategy %s', (name) => {
  it('a strategy tries again after pauses that double up to five seconds, until a call succeeds', async () => {
    const coordinator = failing(10);
    const strategy = createStrategy(name, { ...options, coordinator });
    send(strategy, 'a');
    if (name === 'interval') vi.advanceTimersToNextTimer(); // the first call is no retry
    await settle();
    expect(await pauses(50)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000]);
    expect(coordinator.stored).toEqual(['a']);
    await strategy.dispose();
  });

  it('a strategy makes no longer pause once a call has succeeded', async () => {
    const coordinator = failing(8);
    const strategy = createStrategy(name, { ...options, coordinator });
    send(strategy, 'a');
    for (let i = 0; i < 8; i++) await strategy.flush().catch(() => {});
    await strategy.flush();
    send(strategy, 'b');
    await settle();
    expect(await pauses(50)).toEqual(name === 'interval' ? [100] : []);
    expect(coordinator.stored).toEqual(['a', 'b']);
    await strategy.dispose();
  });

  it('a strategy does not keep the process alive for a database that is away', async () => {
    const made = vi.spyOn(globalThis, 'setTimeout');
    const strategy = createStrategy(name, { ...options, coordinator: failing(1) });
    send(strategy, 'a');
    if (name === 'interval') vi.advanceTimersToNextTimer();
    await settle();
    expect(vi.getTimerCount()).toBe(1);
    expect(lastTimer(made).hasRef()).toBe(false);
    await strategy.dispose();
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('the interval strategy keeps the process alive for what it has not tried yet', async () => {
  const made = vi.spyOn(globalThis, 'setTimeout');
  const strategy = createStrategy('interval', { ...options, coordinator: failing(0) });
  send(strategy, 'a');
  expect(lastTimer(made).hasRef()).toBe(true);
  await strategy.dispose();
});

it('the interval strategy does not try for each message while calls fail, however many are queued', async () => {
  const coordinator = failing(1);
  const strategy = createStrategy('interval', { ...options, coordinator, maxQueued: 2 });
  send(strategy, 'a');
  send(strategy, 'b');
  await settle();
  for (const id of ['c', 'd', 'e']) send(strategy, id);
  await settle();
  expect(coordinator.stored).toEqual([]);
  vi.advanceTimersToNextTimer();
  await settle();
  expect(coordinator.stored).toEqual(['a', 'b', 'c', 'd', 'e']);
  await strategy.dispose();
});
