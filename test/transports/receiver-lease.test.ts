import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectionPool } from '../../src/database/index.js';
import { silentLogger } from '../../src/logger.js';
import { migrate } from '../../src/migrate/index.js';
import { receiverLease } from '../../src/transports/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { pgbouncerIsInstalled, startPgBouncer } from '../support/pgbouncer.js';
import { clockCanBeStepped, orWhyNot, startSteppingServer } from '../support/stepping-clock.js';
import { never } from './world.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const hostOf = (pool: ConnectionPool) => ({ pool, schema: 'whizbang', logger: silentLogger });
const take = (name: string, seconds: number, pool: ConnectionPool = db.pool, signal = never) =>
  receiverLease(hostOf(pool), name, signal, { seconds });

/** A pool that can be cut off from its database. */
function cuttable(pool: ConnectionPool) {
  const cut = {
    isCut: false,
    asked: 0,
    connect: async () => {
      cut.asked++;
      if (cut.isCut) throw Object.assign(new Error('It is away.'), { code: 'ECONNREFUSED' });
      return pool.connect();
    },
  };
  return cut;
}

const whenLost = (lost: AbortSignal) =>
  new Promise<number>((resolve) => {
    const at = () => resolve(performance.now());
    if (lost.aborted) at();
    else lost.addEventListener('abort', at, { once: true });
  });

/** The process does nothing for so long, as when it is suspended. */
const stall = (milliseconds: number) =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

describe('The lease of a receiver', () => {
  it('the lease of a receiver has one holder, and the next one as soon as it is given back', async () => {
    const first = await take('one', 60);
    let isTaken = false;
    const second = take('one', 60).then((lease) => {
      isTaken = true;
      return lease;
    });
    await pause(1_200); // two looks of the second
    expect([first.isHeld(), isTaken]).toEqual([true, false]);

    await first.release();

    const next = await second;
    expect(first.isHeld()).toBe(false);
    expect(next.isHeld()).toBe(true);
    expect(BigInt(next.fence)).toBe(BigInt(first.fence) + 1n);
    await next.release();
  });

  it('leases of receivers with different names have nothing to do with each other', async () => {
    const leases = [await take('two a', 60), await take('two b', 60)];
    expect(leases.map((lease) => lease.isHeld())).toEqual([true, true]);
    for (const lease of leases) await lease.release();
  });

  it('the lease of a receiver is renewed for as long as it is held', async () => {
    const lease = await take('renewed', 1);
    const stopping = new AbortController();
    const other = take('renewed', 1, db.pool, stopping.signal);
    const ended = expect(other).rejects.toThrow('enough');

    await pause(3_000);

    expect(lease.isHeld()).toBe(true);
    stopping.abort(new Error('enough'));
    await ended;
    await lease.release();
  });

  it('the lease of a receiver that dies is taken over after its time, and the dead one stopped before', async () => {
    const pool = cuttable(db.pool);
    const dying = await take('dies', 2, pool);
    const lostAt = whenLost(dying.lost);
    const second = take('dies', 2).then((lease) => ({ lease, at: performance.now() }));
    await pause(600); // the second one has seen it
    const diedAt = performance.now();
    pool.isCut = true;

    const { lease, at } = await second;

    expect(dying.isHeld()).toBe(false);
    expect(await lostAt).toBeLessThan(at);
    expect(at - diedAt).toBeLessThan(6_000);
    expect(BigInt(lease.fence)).toBe(BigInt(dying.fence) + 1n);
    await dying.release(); // which takes nothing from the new holder
    await pause(500);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
  });

  it('a receiver that stalled for longer than its lease knows it before it does anything else', async () => {
    const lease = await take('stalls', 1);
    expect(lease.isHeld()).toBe(true);

    stall(1_100);

    expect(lease.isHeld()).toBe(false);
    expect(lease.lost.aborted).toBe(true);
    await lease.release();
  });

  it('the lease of a receiver outlives an outage of the database that is shorter, and not one that is longer', async () => {
    const pool = cuttable(db.pool);
    const lease = await take('outage', 4, pool);
    pool.isCut = true;
    const { asked } = pool;
    await eventually(() => expect(pool.asked).toBeGreaterThan(asked + 1));
    pool.isCut = false;
    await pause(4_000);
    expect(lease.isHeld()).toBe(true);

    pool.isCut = true;
    await whenLost(lease.lost);
    const again = take('outage', 4, pool);
    pool.isCut = false;

    const next = await again;
    expect(next.isHeld()).toBe(true);
    await next.release();
  });

  it('waiting for the lease of a receiver ends with the reason of the signal', async () => {
    const holder = await take('waits', 60);
    const stopping = new AbortController();
    const waiting = take('waits', 60, db.pool, stopping.signal);
    const reason = new Error('stopping');
    stopping.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await holder.release();
  });

  it('the lease of a receiver in a schema without tables is refused with NOT_MIGRATED', async () => {
    const host = { ...hostOf(db.pool), schema: 'nowhere' };
    await expect(receiverLease(host, 'x', never)).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
  });

  it.runIf(pgbouncerIsInstalled)(
    'the lease of a receiver works behind pgbouncer in transaction mode',
    async () => {
      await using bouncer = await startPgBouncer(db.connectionString);
      const pool = new pg.Pool({ connectionString: bouncer.connectionString });
      pool.on('error', () => {});
      const first = await take('bounced', 1, pool);
      await pause(1_500);
      expect(first.isHeld()).toBe(true);
      const second = take('bounced', 1, pool);
      await first.release();
      await (await second).release();
      await pool.end();
    },
  );

  it.runIf(clockCanBeStepped)(
    `a step of the database's clock moves no lease of a receiver, and delays no takeover${orWhyNot}`,
    async () => {
      await using server = await startSteppingServer();
      const pool = new pg.Pool({ connectionString: server.connectionString });
      pool.on('error', () => {});
      await migrate({ pool, schema: 'whizbang' });
      for (const seconds of [3_600, -3_600]) {
        const dying = cuttable(pool);
        const first = await take('clock', 2, dying);
        const second = take('clock', 2, pool);
        await server.step(seconds);
        await pause(3_000);
        expect(first.isHeld()).toBe(true);
        dying.isCut = true;
        await server.step(-seconds);
        const diedAt = performance.now();
        const next = await second;
        expect(performance.now() - diedAt).toBeLessThan(6_000);
        await next.release();
        await first.release();
      }
      await pool.end();
    },
  );
});
