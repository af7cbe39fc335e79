import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { bundled } from '../support/bundled.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { buildsOf, digestOf, ledger } from './support/builds.js';
import { orders, rowsOf } from './support/orders.js';

const program = new URL('support/rebuild-program.ts', import.meta.url);

/** Starts an instance in a process of its own, and kills it as soon as `isTime` holds. */
async function killedWhen(db: TestDatabase, isTime: () => Promise<boolean>): Promise<void> {
  const child = fork(bundled(program), [db.connectionString], { execArgv: [] });
  const ended = once(child, 'exit');
  try {
    await eventually(async () => expect(await isTime()).toBe(true));
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
  // Its leases end.
  await db.pool.query(
    'update wh_perspective_bookmarks set lease_expiry = now() where instance_id is not null',
  );
}

const placeOf = async (db: TestDatabase, build: string) =>
  (
    await db.pool.query<{ place: string }>(
      `select format('%s %s %s', tick, upto, swept) as place from wh_perspective_bookmarks where name = $1`,
      [build],
    )
  ).rows[0]?.place;

describe('a rebuild whose instance is killed', () => {
  it('a rebuild goes on where a killed process has left it, and its models are those of the live build', async () => {
    await using db = await createTestDatabase();
    await using writer = service(db);
    for (let i = 0; i < 1500; i += 50) {
      const ids = Array.from({ length: 50 }, (_, k) => i + k);
      await writer.events.append(ids.flatMap((id) => [placed(`o${id}`, id), paid(`o${id}`, id)]));
    }
    const isLive = async () =>
      (await buildsOf(db, 'orders'))['orders@1'] === 'live' &&
      (await buildsOf(db, 'ledger'))['ledger@1'] === 'live';
    // Killed as soon as both are live: what it has leased is left behind.
    await killedWhen(db, isLive);
    for (const name of ['orders', 'ledger']) {
      await db.pool.query('select wh_rebuild_perspective($1, null, true)', [name]);
    }
    const begun = await placeOf(db, 'orders@1.2');
    await killedWhen(db, async () => (await placeOf(db, 'orders@1.2')) !== begun);
    const left = await placeOf(db, 'ledger@1.2');
    await killedWhen(db, async () => {
      const { 'ledger@1.2': state } = await buildsOf(db, 'ledger');
      return state === 'live' || (await placeOf(db, 'ledger@1.2')) !== left;
    });
    await writer.events.append([paid('o7', 7), paid('o8', 8)]);
    await using shop = service(db, { perspectives: [orders, ledger] });
    await shop.start();
    await eventually(async () => {
      expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1': 'retired', 'orders@1.2': 'live' });
      expect(await buildsOf(db, 'ledger')).toEqual({ 'ledger@1': 'retired', 'ledger@1.2': 'live' });
      expect(await rowsOf(db, 'ledger')).toMatchObject(
        expect.arrayContaining([expect.objectContaining({ id: 'all', version: '1502' })]),
      );
      for (const name of ['orders', 'ledger']) {
        expect(await digestOf(db, `${name}_v1_2`)).toBe(await digestOf(db, `${name}_v1`));
      }
    });
  });

  it('a query of the view sees whole models and never fewer events, while rebuilds go on', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [ledger] });
    await shop.start();
    const isDone = { now: false };
    const write = async () => {
      for (let i = 0; !isDone.now; i++) await shop.events.append([placed(`o${i}`, i), paid(`o${i}`, i)]);
    };
    const read = async () => {
      for (let last = 0; !isDone.now; ) {
        const { rows } = await db.pool.query<{ all: number; parts: number }>(
          `select coalesce(sum(version) filter (where id = 'all'), 0)::int as all,
                  coalesce(sum(version) filter (where id <> 'all'), 0)::int as parts from ledger`,
        );
        const [seen] = rows;
        expect(seen?.parts).toBe(seen?.all);
        expect(seen?.all).toBeGreaterThanOrEqual(last);
        last = seen?.all ?? 0;
      }
    };
    const others = [write(), read(), read()];
    await shop.perspectives.rebuild(ledger);
    await shop.perspectives.rebuild(ledger);
    await shop.perspectives.switch(ledger);
    isDone.now = true;
    await Promise.all(others);
    expect(await buildsOf(db, 'ledger')).toEqual({ 'ledger@1.2': 'live', 'ledger@1.3': 'retired' });
  });
});
