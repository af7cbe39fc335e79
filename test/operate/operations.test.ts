// Operators act while instances work: nothing is lost, nothing is done twice, and the order of every stream holds.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { receptor, streamIdOf } from '../../src/index.js';
import { PlaceOrder, service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { inbox, instance } from '../support/work.js';

/** A service that writes what it handles into a table, in the transaction of the message. */
function writing(db: TestDatabase, wait: (orderId: string, step: number) => unknown = () => {}) {
  const place = receptor(PlaceOrder, async ({ orderId, step }, { tx }) => {
    await tx.query('insert into handled (order_id, step) values ($1, $2)', [orderId, step]);
    await wait(orderId, step);
  });
  return service(db, {
    receptors: [place],
    concurrency: 4,
    retry: { attempts: 50, firstDelaySeconds: 0.05 },
  });
}

async function withTable(): Promise<TestDatabase> {
  const db = await createTestDatabase();
  await db.pool.query(
    'create table handled (n bigint generated always as identity, order_id text, step int)',
  );
  return db;
}

const orders = Array.from({ length: 12 }, (_, i) => `order-${i}`);
const stepsOf = async (db: TestDatabase) => {
  const { rows } = await db.pool.query(
    'select order_id, array_agg(step order by n) as steps from handled group by order_id order by order_id',
  );
  return new Map(rows.map(({ order_id, steps }) => [order_id as string, steps as number[]]));
};
const countOf = async (db: TestDatabase) =>
  Number((await db.pool.query('select count(*) as n from handled')).rows[0].n);

/** Every step of every order was handled once, in order. */
const allInOrder = (db: TestDatabase, steps: number) =>
  eventually(async () => {
    const expected = Array.from({ length: steps }, (_, step) => step);
    const handled = await stepsOf(db);
    for (const order of orders) expect(handled.get(order), order).toEqual(expected);
  });

const send = (shop: ReturnType<typeof writing>, from: number, to: number) =>
  shop.send(
    Array.from({ length: to - from }, (_, i) => from + i).flatMap((step) =>
      orders.map((orderId) => PlaceOrder({ orderId, step })),
    ),
  );

/** Nobody holds anything of the inbox that matters any more, and both have asked for work since. */
async function isAtRest(db: TestDatabase, streams: string) {
  await eventually(async () => {
    const { rowCount } = await db.pool.query(
      `select from wh_active_streams where lane = 'inbox' and instance_id is not null and ${streams}`,
    );
    expect(rowCount).toBe(0);
  });
}

/** Every instance has beaten and asked again, twice, since now. */
async function haveCalled(db: TestDatabase) {
  for (const _ of [1, 2]) {
    const since = (await db.pool.query('select clock_timestamp() as now')).rows[0].now as Date;
    await eventually(async () => {
      const { rows } = await db.pool.query('select last_call_at from wh_service_instances');
      for (const { last_call_at } of rows) expect(last_call_at > since).toBe(true);
    });
  }
}

describe.concurrent('Operators who act on a live service', () => {
  it.for([['type'], ['intake'], ['stream']] as const)(
    'pausing the %s while messages flow loses none, and their order holds',
    async ([kind]) => {
      await using db = await withTable();
      await using one = writing(db);
      await using two = writing(db);
      await Promise.all([one.start(), two.start()]);
      const what =
        kind === 'type'
          ? { type: 'PlaceOrder' }
          : kind === 'stream'
            ? { streamId: 'order-3' }
            : ('intake' as const);
      await send(one, 0, 10);
      expect(await two.operations.pause(what, { who: 'anna', reason: 'a test' })).toBe(true);
      expect(await two.operations.pauses()).toMatchObject([{ kind, who: 'anna', reason: 'a test' }]);
      await send(two, 10, 15);
      const paused = kind === 'stream' ? `order_id = 'order-3'` : 'true';
      await isAtRest(db, kind === 'stream' ? `head = 0` : 'true');
      const counted = async () =>
        (await db.pool.query(`select count(*) as n from handled where ${paused}`)).rows[0].n;
      const before = await counted();
      await haveCalled(db);
      expect(await counted()).toBe(before);
      expect(await one.operations.resume(what)).toBe(true);
      await allInOrder(db, 15);
      expect(await countOf(db)).toBe(15 * orders.length);
      expect((await one.operations.list()).map(({ operation }) => operation)).toEqual(['resume', 'pause']);
      expect((await db.pool.query('select from wh_inbox')).rowCount).toBe(0);
    },
  );

  it('a pause that comes and goes while messages flow loses none, and their order holds', async () => {
    await using db = await withTable();
    await using one = writing(db);
    await using two = writing(db);
    await Promise.all([one.start(), two.start()]);
    const targets = [{ type: 'PlaceOrder' }, 'intake' as const, ...orders.map((streamId) => ({ streamId }))];
    const sent = (async () => {
      for (let step = 0; step < 15; step += 3) await send(one, step, step + 3);
    })();
    for (let round = 0; round < 2; round++) {
      for (const target of targets) {
        await two.operations.pause(target);
        await one.operations.resume(target);
      }
    }
    await sent;
    await allInOrder(db, 15);
    expect(await countOf(db)).toBe(15 * orders.length);
  });

  it('streams and instances that are released while they complete are handled once, in order', async () => {
    await using db = await withTable();
    await using one = writing(db);
    await using two = writing(db);
    await Promise.all([one.start(), two.start()]);
    let isSent = false;
    const sent = (async () => {
      for (let step = 0; step < 15; step += 3) await send(one, step, step + 3);
      isSent = true;
    })();
    let released = 0;
    while (!isSent || (await countOf(db)) < 10 * orders.length) {
      for (const order of orders) released += Number(await two.operations.releaseStream(order));
      const { rows } = await db.pool.query('select instance_id from wh_service_instances');
      for (const { instance_id } of rows) released += await one.operations.releaseInstance(instance_id);
    }
    await sent;
    expect(released).toBeGreaterThan(0);
    await allInOrder(db, 15);
    expect(await countOf(db)).toBe(15 * orders.length);
  });

  it('a handler whose stream was released to another meanwhile is undone', async () => {
    await using db = await withTable();
    const runs: (() => void)[] = [];
    await using shop = writing(db, () => new Promise<void>((go) => runs.push(go)));
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'order-0' }));
    await eventually(() => expect(runs).toHaveLength(1));
    const client = await db.connect();
    const other = instance(db, 'f').over(client);
    await client.query('begin');
    await client.query('select wh_release_stream($1)', [streamIdOf('order-0')]);
    const items = await other.call({ p_takeover_seconds: 0 });
    await client.query('commit');
    expect(items).toMatchObject([{ event_type: 'PlaceOrder' }]);
    runs[0]?.();
    await shop.stop();
    expect(await countOf(db)).toBe(0);
    expect(await other.call(inbox.completes(items))).toEqual([]);
    await client.end();
  });

  it('a message that is given up while it runs is a dead letter, and its effect is undone', async () => {
    await using db = await withTable();
    const runs: (() => void)[] = [];
    await using shop = writing(db, (_, step) =>
      step === 0 ? new Promise<void>((go) => runs.push(go)) : undefined,
    );
    await shop.start();
    const [first] = await shop.send([0, 1].map((step) => PlaceOrder({ orderId: 'order-0', step })));
    await eventually(() => expect(runs).toHaveLength(1));
    expect(await shop.operations.giveUp(first as string, { reason: 'ticket 7' })).toBe(true);
    runs[0]?.();
    await eventually(async () => expect((await stepsOf(db)).get('order-0')).toEqual([1]));
    expect(await shop.deadLetters.get(first as string)).toMatchObject({
      error: 'An operator gave it up: ticket 7',
    });
    expect(await shop.operations.giveUp(first as string)).toBe(false);
  });

  it('an operation is refused with the option that is wrong', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const wrong = [
      shop.operations.giveUp('x'),
      shop.operations.retryNow('x'),
      shop.operations.releaseInstance('x'),
      shop.operations.pause({} as never),
      shop.operations.pause('all' as never),
      shop.operations.resume({ type: '' }),
      shop.operations.giveUp(randomUUID(), { why: 'x' } as never),
    ];
    for (const call of wrong) await expect(call).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});
