import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  defineCommand,
  defineEvent,
  inProcessTransport,
  type Queryable,
  receptor,
  schedule,
} from '../../src/index.js';
import type { Logger } from '../../src/logger.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const Tick = defineCommand('Tick', { schema: z.object({ at: z.string() }), stream: () => 'ticks' });
const Ticked = defineEvent('Ticked', { schema: z.object({ at: z.string() }) });
const tick = (time: Date) => Tick({ at: time.toISOString() });

let db: TestDatabase;
let ticks: string[];
beforeEach(async () => {
  db = await createTestDatabase();
  ticks = [];
});
afterEach(() => db.drop());

const onTick = receptor(Tick, ({ at }) => void ticks.push(at));
const shopWith = (options: Parameters<typeof service<Queryable>>[1]) =>
  service(db, { receptors: [onTick], ...options });
/** Everything that was said of a schedule happened so many seconds earlier. */
const ago = (seconds: number) =>
  db.pool.query('update wh_schedules set next_at = next_at - make_interval(secs => $1)', [seconds]);
const everySecond = '* * * * * *';
const yearly = '0 0 1 1 *';

describe('Schedules of a service', () => {
  it.each([
    ['straight to the inbox', {}],
    ['through a transport', { transport: inProcessTransport() }],
  ])('a schedule fires once for each time over all instances, without a gap, %s', async (_name, options) => {
    const schedules = [schedule('tick', everySecond, tick)];
    const shops = [1, 2, 3].map(() => shopWith({ schedules, ...options }));
    await Promise.all(shops.map((shop) => shop.start()));
    await eventually(() => expect(ticks.length).toBeGreaterThanOrEqual(4));
    await Promise.all(shops.map((shop) => shop.stop()));
    const sorted = [...new Set(ticks)].sort();
    expect(ticks.length).toBe(sorted.length);
    const seconds = sorted.map((time) => Date.parse(time) / 1000);
    expect(seconds).toEqual(seconds.map((_, i) => (seconds[0] as number) + i));
  });

  it('a schedule may publish an event, and its function may be asynchronous', async () => {
    const seen: string[] = [];
    const shop = service(db, {
      receptors: [receptor(Ticked, ({ at }) => void seen.push(at))],
      schedules: [schedule('event', everySecond, async (time) => Ticked({ at: time.toISOString() }))],
    });
    await using _ = await shop.start();
    await eventually(() => expect(seen.length).toBeGreaterThan(0));
  });

  it('schedules.list tells the pattern, the next and the last time of each schedule', async () => {
    const shop = shopWith({
      schedules: [
        schedule('yearly', yearly, tick, { timeZone: 'Europe/Berlin', catchUp: 'skip' }),
        schedule('b', '0 0 1 6 *', tick),
      ],
    });
    await using _ = await shop.start();
    await eventually(async () => expect((await shop.schedules.list()).length).toBe(2));
    const [b, first] = await shop.schedules.list();
    expect(b).toMatchObject({ name: 'b', lastAt: null });
    expect(first).toMatchObject({ name: 'yearly', cron: yearly, timeZone: 'Europe/Berlin', catchUp: 'skip' });
    expect(first?.nextAt?.toISOString()).toMatch(/^\d+-12-31T23:00:00.000Z$/);
  });

  it.each([
    ['skip', 0],
    ['last', 1],
    ['all', 3],
  ] as const)(
    'a service that was down for three times of a schedule catches up by %s: %i',
    async (catchUp, count) => {
      const schedules = [schedule('hourly', '0 * * * *', tick, { catchUp })];
      await shopWith({ schedules })
        .start()
        .then(async (shop) => {
          await eventually(async () => expect((await shop.schedules.list()).length).toBe(1));
          await shop.stop();
        });
      // Two to three hours ago; more than a minute since the last full hour is simulated by the half hour.
      await db.pool.query(
        `update wh_schedules set next_at = date_trunc('hour', clock_timestamp()) - interval '2 hours'`,
      );
      const isOnTheHour = new Date().getUTCMinutes() === 0;
      const shop = shopWith({ schedules });
      await using _ = await shop.start();
      await eventually(async () => {
        const [hourly] = await shop.schedules.list();
        expect(hourly?.nextAt?.getTime()).toBeGreaterThan(Date.now());
      });
      const expected = catchUp === 'skip' && isOnTheHour ? 1 : count;
      await eventually(() => expect(ticks.length).toBe(expected));
      expect([...ticks].sort()).toEqual(ticks);
    },
  );

  it('a schedule whose function never returns keeps no other waiting, nor the start of its service', async () => {
    const hanging = schedule('hanging', yearly, () => new Promise<never>(() => {}));
    const schedules = [hanging, schedule('tick', everySecond, tick)];
    const first = shopWith({ schedules });
    await first.start();
    await eventually(async () => expect((await first.schedules.list()).length).toBe(2));
    await first.stop();
    await ago(400 * 86_400);
    await using shop = shopWith({ schedules });
    await shop.start();
    const before = ticks.length;
    await eventually(() => expect(ticks.length).toBeGreaterThan(before + 1));
  });

  it('a schedule whose function takes a while fires once for each time', async () => {
    const slow = async (time: Date) => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return tick(time);
    };
    const schedules = [schedule('slow', everySecond, slow)];
    const shops = [1, 2].map(() => shopWith({ schedules }));
    await Promise.all(shops.map((shop) => shop.start()));
    await eventually(() => expect(ticks.length).toBeGreaterThanOrEqual(3));
    await Promise.all(shops.map((shop) => shop.stop()));
    expect(new Set(ticks).size).toBe(ticks.length);
  });

  it('a schedule whose function throws is logged once and tried again, and keeps no other waiting', async () => {
    const errors: object[] = [];
    const noop = () => {};
    const logger: Logger = { debug: noop, info: noop, warn: noop, error: (facts) => void errors.push(facts) };
    let isBroken = true;
    const broken = schedule('broken', yearly, (time) => {
      if (isBroken) throw new Error('no');
      return tick(time);
    });
    const shop = shopWith({ logger, schedules: [broken, schedule('tick', everySecond, tick)] });
    await using _ = await shop.start();
    await eventually(async () => expect((await shop.schedules.list()).length).toBe(2));
    await db.pool.query(`update wh_schedules set next_at = '2026-01-01' where name = 'broken'`);
    await eventually(() => expect(errors).toMatchObject([{ schedule: 'broken' }]));
    isBroken = false;
    await eventually(() => expect(ticks).toContain('2026-01-01T00:00:00.000Z'));
    expect(ticks.length).toBeGreaterThan(1);
    expect(errors.length).toBe(1);
  });

  it('a function that does not return within a minute is given up, logged and called again', async () => {
    // A minute passes in a third of a second; everything else keeps its time.
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const hurried = vi.spyOn(AbortSignal, 'timeout');
    hurried.mockImplementation((ms) => timeout(ms === 60_000 ? 300 : ms));
    const errors: object[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (facts: object) => void errors.push(facts) };
    let calls = 0;
    const stuck = schedule('stuck', everySecond, (time) => {
      calls += 1;
      return calls === 1 ? new Promise<ReturnType<typeof tick>>(() => {}) : tick(time);
    });
    const shop = shopWith({ schedules: [stuck], logger });
    await using _ = await shop.start();
    await eventually(() => expect(ticks.length).toBeGreaterThan(0));
    hurried.mockRestore();
    expect(errors).toMatchObject([
      { schedule: 'stuck', error: expect.stringContaining('has not returned within 60 seconds') },
    ]);
  });
});

describe('Schedules and deploys', () => {
  const listOf = async (shop: ReturnType<typeof shopWith>) =>
    (await shop.schedules.list()).map(({ name, cron }) => `${name} ${cron}`);

  it('a newer deploy changes and removes schedules, and an older instance beside it takes nothing back', async () => {
    const old = [schedule('kept', yearly, tick), schedule('removed', yearly, tick)];
    await using first = await shopWith({ schedules: old }).start();
    await eventually(async () =>
      expect(await listOf(first)).toEqual([`kept ${yearly}`, `removed ${yearly}`]),
    );
    await using newer = await shopWith({ schedules: [schedule('kept', everySecond, tick)] }).start();
    await eventually(async () => expect(await listOf(newer)).toEqual([`kept ${everySecond}`]));
    await using restarted = await shopWith({ schedules: old }).start();
    const before = ticks.length;
    await eventually(() => expect(ticks.length).toBeGreaterThan(before + 2));
    expect(await listOf(restarted)).toEqual([`kept ${everySecond}`]);
  });

  it('an older plan leads again when no instance of the newer one is left', async () => {
    await using older = await shopWith({ schedules: [schedule('a', yearly, tick)] }).start();
    const newer = await shopWith({ schedules: [] }).start();
    await eventually(async () => expect(await listOf(older)).toEqual([]));
    await newer.stop();
    await eventually(async () => expect(await listOf(older)).toEqual([`a ${yearly}`]));
  });

  it('an instance without schedules has no say in them', async () => {
    await using keeping = await shopWith({ schedules: [schedule('a', yearly, tick)] }).start();
    await eventually(async () => expect(await listOf(keeping)).toEqual([`a ${yearly}`]));
    await using _ = await shopWith({}).start();
    await ago(400 * 86_400);
    await eventually(() => expect(ticks.length).toBe(1));
    expect(await listOf(keeping)).toEqual([`a ${yearly}`]);
  });

  it('a list of schedules with a name twice is refused, and what is no schedule', () => {
    const twice = [schedule('a', yearly, tick), schedule('a', yearly, tick)];
    const option = 'schedules[1]';
    expect(() => shopWith({ schedules: twice })).toThrow(expect.objectContaining({ details: { option } }));
    expect(() => shopWith({ schedules: [{}] as never })).toThrow(/schedules\[0\] is not a schedule/);
  });
});
