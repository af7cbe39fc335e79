import { describe, expect, it } from 'vitest';
import { WorkCoordinator } from '../../src/coordination.js';
import { inProcessTransport, receptor, type WhizbangError } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters, endLeases } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

function gate() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Two instances of one service; the first to get a message waits in its receptor until it is let go. */
async function stalledAndHealthy(db: TestDatabase, transaction: boolean) {
  await db.pool.query('create table effects (instance text)');
  const stalled = gate();
  const go = gate();
  const signals: AbortSignal[] = [];
  const runs: string[] = [];
  const make = (name: string) =>
    service(db, {
      transport: inProcessTransport(),
      takeoverSeconds: 0,
      receptors: [
        receptor(OrderPlaced, { transaction }, async (_, ctx) => {
          runs.push(name);
          signals.push(ctx.signal);
          if (runs.length === 1) {
            stalled.resolve();
            await go.promise;
          }
          await (ctx.tx ?? db.pool).query('insert into effects values ($1)', [name]);
        }),
      ],
    });
  return { make, stalled, go, signals, runs };
}

describe('A lease that is lost', () => {
  it('a lost lease rolls back what the late instance wrote: the effect is there once', async () => {
    await using db = await createTestDatabase();
    const { make, stalled, go, runs } = await stalledAndHealthy(db, true);
    await using first = make('first');
    await first.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await stalled.promise;
    await using second = make('second');
    await second.start();
    await eventually(async () => {
      await endLeases(db, first); // again, should the first have renewed, or taken it again itself
      expect(runs).toEqual(['first', 'second']);
    });
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    go.resolve();
    await first.stop();
    expect((await db.pool.query('select instance from effects')).rows).toEqual([{ instance: 'second' }]);
  });

  it('a lost lease aborts the signal of its handler at the next renewal', async () => {
    await using db = await createTestDatabase();
    const { make, stalled, go, signals } = await stalledAndHealthy(db, false);
    await using first = make('first');
    await first.start();
    let lost = 0;
    first.on('leaseLost', (events) => {
      lost += events.length;
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await stalled.promise;
    await using second = make('second');
    await second.start();
    await eventually(async () => {
      await endLeases(db, first); // again, as above
      expect(signals).toHaveLength(2);
    });
    await eventually(() =>
      expect((signals[0]?.reason as WhizbangError | undefined)?.code).toBe('LEASE_LOST'),
    );
    go.resolve();
    await first.stop();
    expect(lost).toBeGreaterThan(0);
  });
});

describe('An event loop that is blocked longer than the lease', () => {
  it('an instance whose event loop is blocked beyond the lease loses leases and skips no message', async () => {
    await using db = await createTestDatabase();
    const steps: { step: number; attempt: string }[] = [];
    let hasBlocked = false;
    const lost: string[] = [];
    const onPlaced = receptor(OrderPlaced, { transaction: false }, ({ step }, ctx) => {
      steps.push({ step, attempt: hasBlocked ? 'after' : 'before' });
      if (hasBlocked) return;
      hasBlocked = true;
      const end = performance.now() + 2_500;
      while (performance.now() < end); // as a long computation does
      expect(ctx.signal.aborted).toBe(false);
    });
    await using shop = service(db, {
      receptors: [onPlaced],
      transport: inProcessTransport(),
      leaseSeconds: 2,
      renewSeconds: 1,
      concurrency: 1,
    });
    shop.on('leaseLost', (events) => lost.push(...events.map(({ messageId }) => messageId)));
    for (const step of [1, 2, 3]) await arrive(db, 'OrderPlaced', { orderId: 'a', step });
    await shop.start();
    await eventually(() =>
      expect(
        steps
          .filter(({ attempt }) => attempt === 'after')
          .map(({ step }) => step)
          .at(-1),
      ).toBe(3),
    );
    const after = steps.filter(({ attempt }) => attempt === 'after').map(({ step }) => step);
    // What was not reported in time comes again, from there on; nothing is passed over.
    expect(after.filter((step, i) => step > (after[i - 1] ?? step) + 1)).toEqual([]);
    expect(lost.length).toBeGreaterThan(0);
  });
});

describe('A message whose lease holder died', () => {
  it('a message whose lease holder died is handled by another instance, and loses no attempt', async () => {
    await using db = await createTestDatabase();
    const gone = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'shop' }, leaseSeconds: 1 });
    for (const step of [1, 2]) await arrive(db, 'OrderPlaced', { orderId: 'a', step });
    expect((await gone.processWorkBatch()).inbox).toHaveLength(2);
    const runs: { step: number; attempt: number }[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }, { attempt }) => void runs.push({ step, attempt }));
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await eventually(() => {
      expect(runs).toEqual([
        { step: 1, attempt: 1 },
        { step: 2, attempt: 1 },
      ]);
    });
  });

  it('a message whose lease holders die too often becomes a dead letter', async () => {
    await using db = await createTestDatabase();
    await arrive(db, 'OrderPlaced', { orderId: 'a', step: 1 });
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, { retry: { attempts: 1 } }, ({ step }) => void steps.push(step));
    const gone = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'shop' }, leaseSeconds: 1 });
    const [item] = (await gone.processWorkBatch()).inbox;
    await arrive(db, 'OrderPlaced', { orderId: 'a', step: 2 });
    // Two others have died of it before.
    for (let i = 0; i < 2; i++) await db.pool.query('select wh_count_interruption($1)', [item?.messageId]);
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await eventually(() => expect(steps).toEqual([2]));
    expect(await deadLetters(db)).toMatchObject([
      { error: expect.stringContaining('3 instances died or stalled') },
    ]);
  });

  it('no count of dead lease holders is left once a message is handled or given up', async () => {
    await using db = await createTestDatabase();
    const onPlaced = receptor(OrderPlaced, { retry: { attempts: 1 } }, ({ step }) => {
      if (step === 2) throw new Error('no');
    });
    const gone = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'shop' }, leaseSeconds: 1 });
    for (const [orderId, step] of [
      ['a', 1],
      ['b', 2],
    ] as const) {
      await arrive(db, 'OrderPlaced', { orderId, step });
    }
    const held = (await gone.processWorkBatch()).inbox;
    for (const { messageId } of held) await db.pool.query('select wh_count_interruption($1)', [messageId]);
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await eventually(async () => {
      expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]);
      expect(await deadLetters(db)).toHaveLength(1);
    });
    expect((await db.pool.query('select * from wh_receptor_processing')).rows).toEqual([]);
  });
});
