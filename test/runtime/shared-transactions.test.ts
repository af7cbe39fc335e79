import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { WorkCoordinator } from '../../src/coordination.js';
import { inProcessTransport, type Receptor, receptor } from '../../src/index.js';
import { callWith } from '../crashes/support/call-with.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, service } from './service.js';
import {
  effectsOf,
  inCompany,
  leftIn,
  type Order,
  OrderPaid,
  onePlace,
  placing,
  Runs,
  sentBy,
  waiting,
  warmUp,
} from './shared-transactions.js';

const settles = callWith('inboxCompletions', 'newOutboxMessages');

beforeAll(warmUp);

describe('Messages that wait together', inCompany, () => {
  it('messages that wait together are handled in one transaction, settled and committed once', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1', 'e1']);
    const texts: string[] = [];
    await using pool = Object.assign(new pg.Pool({ connectionString: db.connectionString }), {
      [Symbol.asyncDispose]: () => pool.end(),
    });
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (
        text: string,
        values?: unknown[],
      ) => Promise<pg.QueryResult>;
      client.query = (async (text: string, values?: unknown[]) => {
        texts.push(text);
        return query(text, values);
      }) as typeof client.query;
    });
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { pool, connectionString: undefined } as object);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([5]);
    expect(texts.filter((text) => /^begin/.test(text))).toHaveLength(1);
    expect(texts.filter((text) => text === 'commit')).toHaveLength(1);
    expect(texts.filter((text) => settles.test(text))).toHaveLength(1);
    expect(await effectsOf(db)).toEqual(['a1', 'b1', 'c1', 'd1', 'e1']);
    expect(await sentBy(db)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('messages have a transaction each when there are no more of them than places', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { concurrency: 4 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1, 1]);
  });

  it('messages have a transaction each when groupSize is 1', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { groupSize: 1 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });

  it('no more than groupSize messages share a transaction', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1', 'e1']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { groupSize: 2 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([2, 2, 1]);
  });

  it('messages that share a transaction send in the order in which they are handled', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'a2', 'a3', 'a4']);
    const runs = new Runs();
    const handle = receptor(OrderPlaced, async (order, ctx) => {
      runs.add(order as Order, ctx);
      const paid = OrderPaid({ orderId: `${order.orderId}${order.step}` });
      if (order.step % 2 === 1) await ctx.publish(paid, { delaySeconds: 3_600, holdStream: true });
      else await shop.publish(paid, { tx: ctx.tx, delaySeconds: 3_600, holdStream: true });
    });
    await using shop = service(db, { receptors: [handle], concurrency: 1, transport: inProcessTransport() });
    await shop.start();
    await eventually(async () => expect((await db.pool.query('select from wh_inbox')).rowCount).toBe(0));
    const { rows } = await db.pool.query(
      `select event_data ->> 'orderId' as id from wh_outbox order by sequence_order`,
    );
    expect(rows.map(({ id }) => id)).toEqual(['a1', 'a2', 'a3', 'a4']);
    expect(runs.sizes).toEqual([4]);
  });

  it('messages that share a transaction keep the order of their stream, and deep streams delay no other', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'a2', 'a3', 'b1', 'b2']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([5]);
    expect(runs.orders).toEqual(['a1', 'b1', 'a2', 'a3', 'b2']);
  });

  it('messages do not wait for a slow one in their group: another group handles them', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1', 'e1', 'f1']);
    const runs = new Runs();
    let goOn = () => {};
    const hangs = new Promise<void>((resolve) => (goOn = resolve));
    const onPlaced = placing(runs, ({ orderId }) => (orderId === 'a' ? hangs : undefined));
    await using shop = onePlace(db, [onPlaced], { concurrency: 2 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual(['a1']));
    goOn();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(await effectsOf(db)).toHaveLength(6);
  });
});

describe('A message with a transaction of its own', () => {
  it.each<[string, (runs: Runs) => Receptor[]]>([
    ['of a receptor that says so', (runs) => [placing(runs, undefined, { alone: true })]],
    [
      'of a type with several receptors',
      (runs) => [
        placing(runs, undefined, { name: 'first' }),
        receptor(OrderPlaced, { name: 'second' }, () => {}),
      ],
    ],
  ])('a message %s has a transaction of its own', async (_, receptors) => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const runs = new Runs();
    await using shop = onePlace(db, receptors(runs));
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });

  it('a message that failed before has a transaction of its own', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    await db.pool.query('update wh_inbox set attempts = 1');
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });

  it('a message whose lease holder died has a transaction of its own', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const dead = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'shop' } });
    expect((await dead.processWorkBatch({ maxInboxItems: 10 })).inbox).toHaveLength(3);
    for (const table of ['wh_active_streams', 'wh_inbox']) {
      await db.pool.query(`update ${table} set lease_expiry = clock_timestamp()`);
    }
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { takeoverSeconds: 0 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });

  it('a message of a receptor that has become slow has a transaction of its own', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const runs = new Runs();
    const slow = () => new Promise((resolve) => setTimeout(resolve, 100));
    await using shop = onePlace(db, [placing(runs, slow)]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });
});
