// Events for a service that has never started: told of, and kept once somebody says that it will come.
import { describe, expect, it } from 'vitest';
import { migrate, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { runCli } from '../cli/run-cli.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const steps = Array.from({ length: 20 }, (_, step) => step);

function warehouse(db: TestDatabase, handled: number[]) {
  const onPlaced = receptor(OrderPlaced, ({ step }) => void handled.push(step));
  return service(db, { service: 'warehouse', schema: 'warehouse', receptors: [onPlaced] });
}

const sendersAreDone = (db: TestDatabase) =>
  eventually(async () => {
    expect((await db.pool.query('select from whizbang.wh_outbox')).rowCount).toBe(0);
  });

const subscriptions = async (db: TestDatabase) =>
  (await db.pool.query('select distinct address from warehouse.wh_subscriptions order by 1')).rows.map(
    ({ address }) => address,
  );

describe('A service that was declared before its first start', () => {
  it.each([
    [
      'migrate',
      (db: TestDatabase) =>
        migrate({ pool: db.pool, schema: 'warehouse', subscriptions: ['OrderPlaced'] }).then(() => {}),
    ],
    [
      'whizbang subscribe',
      async (db: TestDatabase) => {
        await migrate({ pool: db.pool, schema: 'warehouse' });
        const args = ['subscribe', 'OrderPlaced', '--schema', 'warehouse'];
        const run = await runCli(args, { DATABASE_URL: db.connectionString });
        expect(run).toMatchObject({
          code: 0,
          stdout: 'Schema warehouse receives OrderPlaced from now on.\n',
          stderr: '',
        });
      },
    ],
  ])('a service that %s declared gets all events of before its first start, in order', async (_, declare) => {
    await using db = await createTestDatabase();
    await declare(db);
    await using shop = service(db);
    await shop.start();
    for (const step of steps) await shop.publish(OrderPlaced({ orderId: 'a', step }));
    await sendersAreDone(db);
    const handled: number[] = [];
    await using late = warehouse(db, handled);
    await late.start();
    await eventually(() => expect(handled).toEqual(steps));
  });

  it('a declaration outlives the start of an older version, and ends with the first that subscribes', async () => {
    await using db = await createTestDatabase();
    await migrate({ pool: db.pool, schema: 'warehouse', subscriptions: ['OrderPlaced'] });
    await db.pool.query(`update warehouse.wh_subscriptions set subscribed_at = now() - interval '1 day'`);
    const receptors = [receptor(PlaceOrder, () => {})];
    await using older = service(db, { service: 'warehouse', schema: 'warehouse', receptors });
    await older.start();
    expect(await subscriptions(db)).toContain('OrderPlaced');
    await using newer = warehouse(db, []);
    await newer.start();
    const { rows } = await db.pool.query(
      `select from warehouse.wh_subscriptions where instance_id = '00000000-0000-0000-0000-000000000000'`,
    );
    expect(rows).toEqual([]);
    expect(await subscriptions(db)).toContain('OrderPlaced');
  });

  it('subscriptions that are no list of names are refused', async () => {
    await using db = await createTestDatabase();
    const wrong = migrate({ pool: db.pool, subscriptions: [''] });
    await expect(wrong).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'subscriptions' },
    });
  });
});

describe('An event that no service has ever subscribed to', () => {
  it('an event to nobody is counted, is logged once per type, and is neither once somebody has subscribed', async () => {
    await using db = await createTestDatabase();
    await migrate({ pool: db.pool, schema: 'warehouse' });
    const warnings: object[] = [];
    const logger = { ...silentLogger, warn: (facts: object) => void warnings.push(facts) };
    const told: unknown[] = [];
    await using shop = service(db, { logger });
    shop.on('unheard', ({ type, count }) => told.push([type, count]));
    await shop.start();
    for (const step of [1, 2]) await shop.publish(OrderPlaced({ orderId: 'a', step }));
    await eventually(() => expect(told.at(-1)).toEqual(['OrderPlaced', 2]));
    expect(warnings).toEqual([expect.objectContaining({ type: 'OrderPlaced' })]);

    const handled: number[] = [];
    await using late = warehouse(db, handled);
    await late.start();
    await shop.publish(OrderPlaced({ orderId: 'a', step: 3 }));
    await eventually(() => expect(handled).toEqual([3]));
    await shop.stop();
    expect(told.at(-1)).toEqual(['OrderPlaced', 2]);
  });

  it('an event that somebody has subscribed to is not called unheard, in any batch', async () => {
    await using db = await createTestDatabase();
    await migrate({ pool: db.pool, schema: 'warehouse', subscriptions: ['OrderPlaced'] });
    const told: unknown[] = [];
    await using shop = service(db);
    shop.on('unheard', (notice) => told.push(notice));
    await shop.start();
    await shop.publish(steps.map((step) => OrderPlaced({ orderId: 'a', step })));
    await sendersAreDone(db);
    await shop.stop();
    expect(told).toEqual([]);
  });
});
