import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inProcessTransport, newMessageId, type Queryable, receptor } from '../../src/index.js';
import { OrderPlaced, PlaceOrder, service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

/** The steps of PlaceOrder in the order in which they were handled. */
function handling(options: Parameters<typeof service<Queryable>>[1] = {}) {
  const steps: number[] = [];
  const handles = receptor(PlaceOrder, ({ step }) => void steps.push(step));
  return { steps, shop: service(db, { receptors: [handles], ...options }) };
}

const order = (step: number, orderId = 'a') => PlaceOrder({ orderId, step });
const inTheFuture = (seconds: number) => new Date(Date.now() + seconds * 1000);
const rowsOf = async (text: string) => (await db.pool.query(text)).rows;

describe('A message with a delay', () => {
  it('a message with a delay holds up nobody in its stream', async () => {
    const { shop, steps } = handling();
    await using _ = await shop.start();
    await shop.send(order(1), { delaySeconds: 86_400 });
    await shop.send(order(2), { at: inTheFuture(86_400) });
    await shop.send(order(3));
    await eventually(() => expect(steps).toEqual([3]));
    expect((await shop.timers.list()).length).toBe(2);
  });

  it('a message with a delay and holdStream keeps what follows in its stream waiting', async () => {
    const { shop, steps } = handling();
    await using _ = await shop.start();
    await shop.send(order(1), { delaySeconds: 1, holdStream: true });
    await shop.send(order(2));
    expect(await shop.timers.list()).toEqual([]);
    await eventually(() => expect(steps).toEqual([1, 2]));
  });

  it.each([
    ['straight to the inbox', {}],
    ['through a transport', { transport: inProcessTransport() }],
    ['without LISTEN', { listen: false as const, pollIntervalMs: 20 }],
  ])('a timer fires in the order of the times, then of sending, %s', async (_name, options) => {
    const { shop, steps } = handling(options);
    const at = inTheFuture(0.4);
    await shop.send(order(5), { at: inTheFuture(0.6) });
    await shop.send([order(2), order(3)], { at });
    await shop.send(order(4), { at });
    await shop.send(order(1), { at: inTheFuture(-1) });
    await using _ = await shop.start();
    await eventually(() => expect(steps).toEqual([1, 2, 3, 4, 5]));
    expect(await rowsOf('select from wh_timers')).toEqual([]);
  });

  it('a timer is set if and only if its transaction commits', async () => {
    const { shop, steps } = handling();
    await using _ = await shop.start();
    const client = await db.pool.connect();
    for (const [end, step] of [
      ['rollback', 1],
      ['commit', 2],
    ] as const) {
      await client.query('begin');
      await shop.send(order(step), { delaySeconds: 0.05, tx: client });
      await client.query(end);
    }
    client.release();
    await eventually(() => expect(steps).toEqual([2]));
  });

  it.each([true, false])('a timer that a receptor sets, transaction %s, fires', async (transaction) => {
    const { shop, steps } = handling({
      receptors: [
        receptor(OrderPlaced, { transaction }, ({ orderId }, ctx) =>
          ctx.send(PlaceOrder({ orderId, step: 7 }), { delaySeconds: 0.05 }),
        ),
        receptor(PlaceOrder, ({ step }) => void steps.push(step)),
      ] as never,
    });
    await using _ = await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(() => expect(steps).toEqual([7]));
  });

  it('an event with a delay is appended to its stream when it is due', async () => {
    const { shop } = handling();
    await using _ = await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a', step: 2 }), { delaySeconds: 3600 });
    await shop.publish(OrderPlaced({ orderId: 'a', step: 1 }));
    const stored = () =>
      rowsOf(`select event_data ->> 'step' as step, version::int from wh_event_store order by version`);
    await eventually(async () => expect(await stored()).toEqual([{ step: '1', version: 1 }]));
    await db.pool.query('update wh_timers set due_at = clock_timestamp()');
    await db.pool.query(`select pg_notify(wh_channel(), 'timer 0')`);
    await eventually(async () =>
      expect(await stored()).toEqual([
        { step: '1', version: 1 },
        { step: '2', version: 2 },
      ]),
    );
  });

  it('a timer keeps the scope, the correlation and the trace of its message', async () => {
    const seen: unknown[] = [];
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const shop = service(db, {
      receptors: [
        receptor(PlaceOrder, (_, { envelope }) => {
          const { messageId, scope, correlationId } = envelope;
          seen.push({ messageId, scope, correlationId, traceparent: envelope.traceparent });
        }),
      ],
    });
    await using _ = await shop.start();
    const context = { scope: { tenant: 't' }, correlationId: 'c', traceparent };
    const messageId = await shop.send(order(1), { delaySeconds: 0.05, ...context });
    await eventually(() => expect(seen).toEqual([{ messageId, ...context }]));
  });

  it('a second timer with the same id is ignored', async () => {
    const { shop, steps } = handling();
    await using _ = await shop.start();
    const messageId = newMessageId();
    await shop.send(order(1), { delaySeconds: 0.1, messageId });
    await shop.send(order(2), { delaySeconds: 0.05, messageId });
    await shop.send(order(3), { delaySeconds: 0.2 });
    await eventually(() => expect(steps).toEqual([1, 3]));
  });

  it('a timer with an expected version is refused', async () => {
    const { shop } = handling();
    const options = { delaySeconds: 1, expectedVersion: 0 };
    await expect(shop.publish(OrderPlaced({ orderId: 'a' }), options)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'expectedVersion' },
    });
    await shop.stop();
  });

  it('a timer that was set while no instance ran fires when one starts', async () => {
    const { shop: sender } = handling();
    await sender.send(order(1), { delaySeconds: 0.01 });
    await sender.stop();
    const { shop, steps } = handling();
    await using _ = await shop.start();
    await eventually(() => expect(steps).toEqual([1]));
  });

  it('a timer whose id is being stored in an open transaction keeps no other timer waiting', async () => {
    const { shop, steps } = handling();
    await using _ = await shop.start();
    const messageId = newMessageId();
    const client = await db.pool.connect();
    await client.query('begin');
    await shop.send(order(1), { messageId, tx: client });
    await shop.send(order(2), { messageId, delaySeconds: 0.01 });
    await shop.send(order(3, 'b'), { delaySeconds: 0.02 });
    await eventually(() => expect(steps).toEqual([3]));
    await client.query('commit');
    client.release();
    await eventually(async () => expect(await shop.timers.list()).toEqual([]));
    await eventually(() => expect(steps).toEqual([3, 1]));
  });
});

describe('timers.list', () => {
  it('timers.list pages through the timers in the order in which they will fire', async () => {
    const { shop } = handling();
    const at = inTheFuture(3600);
    const ids = await shop.send([order(1), order(2), order(3, 'b')], { at });
    const sooner = await shop.publish(OrderPlaced({ orderId: 'a' }), { delaySeconds: 60, scope: 'mine' });
    const first = await shop.timers.list({ limit: 2 });
    const rest = await shop.timers.list({ limit: 2, after: first[1] });
    expect([...first, ...rest].map(({ id }) => id)).toEqual([sooner, ...ids]);
    expect(await shop.timers.list({ after: rest[1] })).toEqual([]);
    expect(first[1]).toMatchObject({ type: 'PlaceOrder', to: 'shop', dueAt: at, scope: null });
    expect(first[0]).toMatchObject({ type: 'OrderPlaced', to: 'OrderPlaced', scope: 'mine' });
    const ofStream = await shop.timers.list({ stream: 'a', type: 'PlaceOrder' });
    expect(ofStream.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    await shop.stop();
  });
});
