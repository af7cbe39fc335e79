import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import { Listener } from '../../src/work/index.js';
import { Rest, type RestOptions } from '../../src/work/loop/rest.js';
import { Signal } from '../../src/work/loop/signal.js';
import { askWithin } from '../support/ask-within.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

/** Of a loop that has its hands free, and nothing that is due. */
const restOf = (options: Partial<RestOptions> & { pollIntervalMs: number }) =>
  new Rest({
    listener: undefined,
    lanes: [{ spare: () => 1, wantsMore: () => true }],
    signal: new Signal(),
    msUntilDue: () => Number.POSITIVE_INFINITY,
    ...options,
  });

describe('A loop that polls', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  async function polls(rest: Rest, count: number): Promise<number[]> {
    const delays: number[] = [];
    while (delays.length < count) {
      const before = Date.now();
      const rested = rest.untilWoken();
      vi.advanceTimersToNextTimer();
      expect(await rested).toBe(true);
      delays.push(Date.now() - before);
    }
    return delays;
  }

  it.each(['found', 'notified'] as const)(
    'a loop polls more and more slowly up to its interval, until something is %s',
    async (something) => {
      const rest = restOf({ pollIntervalMs: 1_000 });
      expect(await polls(rest, 6)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
      rest[something]();
      expect(await polls(rest, 2)).toEqual([100, 200]);
    },
  );

  it('a loop looks once, soon, for all the hints that came meanwhile', async () => {
    const rest = restOf({ pollIntervalMs: 60_000 });
    await polls(rest, 10);
    for (let i = 0; i < 3; i++) rest.hinted();
    const [afterHints, next] = await polls(rest, 2);
    expect(afterHints).toBeLessThanOrEqual(200);
    expect(next).toBe(60_000);
  });
});

describe('A loop that watches', () => {
  async function watching(db: TestDatabase) {
    const listener = new Listener({
      connect: () => db.connect(),
      schema: 'whizbang',
      onWake: () => {},
      onHint: () => {},
      onAnswer: () => {},
      onTimer: () => {},
      logger: silentLogger,
    });
    await listener.open();
    const signal = new Signal();
    const rest = restOf({ listener, signal, pollIntervalMs: 60_000 });
    expect(await rest.untilWoken()).toBe(true);
    expect(listener.sleep).toBe('asleep');
    const wakeInVain = async () => {
      rest.notified();
      rest.looks();
      signal.set();
      expect(await rest.untilWoken()).toBe(false);
      return listener.sleep;
    };
    return { listener, rest, wakeInVain };
  }

  it('a loop that is woken in vain three times stops watching for a pause, and then watches again', async () => {
    await using db = await createTestDatabase();
    const { listener, rest, wakeInVain } = await watching(db);
    expect(await wakeInVain()).toBe('asleep');
    expect(await wakeInVain()).toBe('asleep');
    expect(await wakeInVain()).toBe('awake');
    await eventually(async () => {
      expect(await askWithin(db, 'select wh_watch_session() as pid')).toEqual({ pid: null });
    });
    expect(await rest.untilWoken()).toBe(true);
    expect(listener.sleep).toBe('asleep');
    await listener.close();
  });

  it('a loop goes on watching when it finds something now and then', async () => {
    await using db = await createTestDatabase();
    const { listener, rest, wakeInVain } = await watching(db);
    for (let i = 0; i < 3; i++) {
      expect(await wakeInVain()).toBe('asleep');
      expect(await wakeInVain()).toBe('asleep');
      rest.found();
    }
    await listener.close();
  });
});
