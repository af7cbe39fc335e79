import { describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import type { Accident } from './support/accident.js';
import { startLossyProxy } from './support/lossy-proxy.js';
import type { PerspectivePlan } from './support/perspective-program.js';
import { createFollower, Followed, type Kind } from './support/perspectives.js';
import { startProgram } from './support/process.js';

const start = (db: TestDatabase, plan: Omit<PerspectivePlan, 'connectionString'>) =>
  startProgram(new URL('support/perspective-program.ts', import.meta.url), {
    connectionString: db.connectionString,
    ...plan,
  });

const heir = (db: TestDatabase, kind: Kind) =>
  createFollower({ connectionString: db.connectionString }, kind);

async function statesOf(db: TestDatabase): Promise<Record<string, string>> {
  const { rows } = await db.pool.query<{ name: string; state: string }>(
    'select name, state from wh_perspectives',
  );
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
}

const places = [
  { kind: 'stream', step: 'leased', nth: 1 },
  { kind: 'stream', step: 'moving', nth: 1 },
  { kind: 'stream', step: 'moved', nth: 1 },
  { kind: 'custom', step: 'applied', nth: 2 },
  { kind: 'custom', step: 'moving', nth: 1 },
  { kind: 'custom', step: 'moved', nth: 1 },
  { kind: 'custom', step: 'committed', nth: 1 },
] as const;

/** A process that has an accident in its first batch of three events. */
async function withAccident(db: TestDatabase, kind: Kind, accident: Accident) {
  const followed = await Followed.of(db, kind);
  // It is registered first: so these are events of the log.
  await using first = heir(db, kind);
  await first.start();
  await first.stop();
  const leases = accident.signal === 'SIGKILL' ? 'long' : 'short';
  const victim = await start(db, { kind, accident, leases });
  await followed.append(3);
  return { followed, victim };
}

describe.concurrent('A process with a perspective that is killed', () => {
  it.each(places)(
    'every event is applied once when the process is killed in a batch ($kind, $step)',
    async ({ kind, step, nth }) => {
      await using db = await createTestDatabase();
      const { followed, victim } = await withAccident(db, kind, { step, nth, signal: 'SIGKILL' });
      await using _victim = victim;
      expect(await victim.ended).toBe('SIGKILL');
      await followed.append(3);
      await followed.endLeases();
      await using follower = heir(db, kind);
      await follower.start();
      await followed.expectAllBut();
      expect(await followed.held()).toEqual([]);
    },
  );

  it('a sweep over events that were there goes on where the killed process was', async () => {
    await using db = await createTestDatabase();
    const followed = await Followed.of(db, 'stream');
    for (let i = 0; i < 12; i++) await followed.append(100);
    const accident = { step: 'moving', nth: 2, signal: 'SIGKILL' } as const;
    await using victim = await start(db, { kind: 'stream', accident, leases: 'long' });
    expect(await victim.ended).toBe('SIGKILL');
    const { rows } = await db.pool.query('select count(*)::int as models from steps');
    expect(rows).toEqual([{ models: 500 }]);
    await followed.append(3);
    await followed.endLeases();
    await using follower = heir(db, 'stream');
    await follower.start();
    await followed.expectAllBut();
  });

  it.each(['taken', 'reading ahead', 'read ahead', 'moving', 'moved', 'switching', 'switched'] as const)(
    'a rebuild whose process is killed ends with every model, and is switched once (%s)',
    async (step) => {
      await using db = await createTestDatabase();
      const followed = await Followed.of(db, 'stream');
      for (let i = 0; i < 6; i++) await followed.append(100);
      await using first = heir(db, 'stream');
      await first.start();
      await followed.expectAllBut();
      await eventually(async () => expect(await statesOf(db)).toEqual({ 'steps@1': 'live' }));
      await first.stop();
      await db.pool.query(`select wh_rebuild_perspective('steps', null, true)`);
      const accident = { step, nth: 1, signal: 'SIGKILL' } as const;
      await using victim = await start(db, { kind: 'stream', accident, leases: 'long' });
      expect(await victim.ended).toBe('SIGKILL');
      await followed.append(3);
      await followed.endLeases();
      await using follower = heir(db, 'stream');
      await follower.start();
      await eventually(async () =>
        expect(await statesOf(db)).toEqual({ 'steps@1': 'retired', 'steps@1.2': 'live' }),
      );
      await followed.expectAllBut();
      expect(await followed.held()).toEqual([]);
    },
  );

  it('a process that is killed leaves its perspective to the next one when its lease ends by itself', async () => {
    await using db = await createTestDatabase();
    const { followed, victim } = await withAccident(db, 'stream', {
      step: 'moving',
      nth: 1,
      signal: 'SIGSTOP',
    });
    await using _victim = victim;
    await victim.untilStopped();
    victim.signal('SIGKILL');
    expect(await victim.ended).toBe('SIGKILL');
    await using follower = heir(db, 'stream');
    await follower.start();
    await followed.expectAllBut();
  });
});

describe.concurrent('A process with a perspective that stands still', () => {
  it.each(places.filter(({ step }) => step !== 'committed'))(
    'a process that stands still in a batch changes nothing when it comes back ($kind, $step)',
    async ({ kind, step, nth }) => {
      await using db = await createTestDatabase();
      const { followed, victim } = await withAccident(db, kind, { step, nth, signal: 'SIGSTOP' });
      await using _victim = victim;
      await victim.untilStopped();
      await using follower = heir(db, kind);
      await follower.start();
      await followed.append(2);
      await followed.expectAllBut(); // while it stands still
      victim.signal('SIGCONT');
      await followed.append(2);
      await followed.expectAllBut();
      victim.signal('SIGTERM');
      expect(await victim.ended).toBe(0);
      await followed.expectAllBut();
      expect(await followed.held()).toEqual([]);
    },
  );
});

describe.concurrent('An event that ends its process', () => {
  it.each(['stream', 'custom'] as const)(
    'an event that ends its process is held after four deaths, and all others are applied (%s)',
    async (kind) => {
      await using db = await createTestDatabase();
      const followed = await Followed.of(db, kind);
      await using first = heir(db, kind);
      await first.start();
      await first.stop();
      await followed.append(3);
      for (let deaths = 1; deaths <= 4; deaths++) {
        await using victim = await start(db, { kind, deadly: 'order-0', leases: 'long', accident: never });
        expect(await victim.ended).toBe(7);
        expect(await followed.held()).toEqual([]);
        await followed.endLeases();
      }
      await using _survivor = await start(db, { kind, deadly: 'order-0', leases: 'long' });
      await followed.append(3);
      await followed.expectAllBut('order-0');
      expect(await followed.held()).toEqual(['order-0']);
    },
  );
});

/** It may die before it can say that it has started. */
const never = { step: 'never', nth: 1, signal: 'SIGKILL' } as const;

describe.concurrent('A connection of a perspective that is cut', () => {
  it.each([
    ['stream', 'loseAnswer', /wh_move_bookmark/],
    ['stream', 'loseQuestion', /wh_move_bookmark/],
    ['stream', 'loseAnswer', /wh_take_bookmark/],
    ['custom', 'loseAnswer', /^commit$/i],
    ['custom', 'loseQuestion', /^commit$/i],
    ['custom', 'loseAnswer', /wh_move_bookmark/],
  ] as const)(
    'every event is applied once when a connection is cut (%s, %s of %s)',
    async (kind, lose, statement) => {
      await using db = await createTestDatabase();
      const followed = await Followed.of(db, kind);
      await using proxy = await startLossyProxy(db.connectionString);
      await using follower = createFollower({ connectionString: proxy.connectionString }, kind);
      await follower.start();
      const cut = proxy[lose](statement);
      // A few events come with the lease, and no statement takes them.
      await followed.append(statement.test('wh_take_bookmark') ? 60 : 5);
      await cut;
      await followed.append(5);
      await followed.expectAllBut();
      expect(await followed.held()).toEqual([]);
    },
  );
});
