import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newMessageId, receptor, streamIdOf } from '../../src/index.js';
import { OrderPlaced, PlaceOrder, service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { ids, instance, lanes, stream as messages, type NewMessage, outbox } from '../support/work.js';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

/** Messages of one stream. */
const stream = (count: 1 | 2, fields: Partial<NewMessage> = {}) =>
  messages(count, fields) as [NewMessage, NewMessage];
const roomless = { p_max_outbox_items: 0, p_max_inbox_items: 0 };
const order = (step: number, orderId = 'a') => PlaceOrder({ orderId, step });
const isCancelled = async (id: string, over: Pick<TestDatabase['pool'], 'query'> = db.pool) =>
  (await over.query('select wh_cancel_message($1) as yes', [id])).rows[0].yes as boolean;

async function makeDue(id: string): Promise<void> {
  await db.pool.query('update wh_timers set due_at = clock_timestamp() where message_id = $1', [id]);
  await db.pool.query(`select pg_notify(wh_channel(), 'timer 0')`);
}

/** A shop whose receptor stands still at step 1 until it is released. */
function stuckShop() {
  const steps: number[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const handles = receptor(PlaceOrder, async ({ step }) => {
    steps.push(step);
    if (step === 1) await released;
  });
  return {
    steps,
    release,
    shop: service(db, { receptors: [handles], prefetch: 1, concurrency: 1, groupSize: 1 }),
  };
}

describe('cancel', () => {
  it('cancel takes back a timer, once', async () => {
    const steps: number[] = [];
    const shop = service(db, { receptors: [receptor(PlaceOrder, ({ step }) => void steps.push(step))] });
    await using _ = await shop.start();
    const id = await shop.send(order(1), { delaySeconds: 60 });
    await shop.send(order(2), { delaySeconds: 0.1 });
    expect([await shop.cancel(id), await shop.cancel(id)]).toEqual([true, false]);
    await eventually(() => expect(steps).toEqual([2]));
  });

  it('cancel takes back a message that waits behind another one, which it leaves alone', async () => {
    const { shop, steps, release } = stuckShop();
    await using _ = await shop.start();
    const running = await shop.send(order(1));
    await eventually(() => expect(steps).toEqual([1]));
    const waiting = await shop.send(order(2));
    await shop.send(order(3));
    expect([await shop.cancel(running), await shop.cancel(waiting)]).toEqual([false, true]);
    release();
    await eventually(() => expect(steps).toEqual([1, 3]));
    expect(await shop.cancel(running)).toBe(false);
  });

  it('cancel answers false for an id that nobody knows', async () => {
    expect(await isCancelled(newMessageId())).toBe(false);
  });

  it('cancel leaves an event alone that is in the event store', async () => {
    const a = instance(db, 'a');
    const [event] = stream(1, { is_event: true });
    await a.call(outbox.stores(event), roomless);
    expect(await isCancelled(event.message_id)).toBe(false);
  });

  it('cancel refuses what is no id, and a transaction that is undefined', async () => {
    const shop = service(db);
    await expect(shop.cancel('order-1')).rejects.toMatchObject({ details: { option: 'id' } });
    const tx = undefined as unknown as object;
    await expect(shop.cancel(newMessageId(), { tx })).rejects.toMatchObject({ details: { option: 'tx' } });
    await shop.stop();
  });

  it('cancel in a transaction holds if and only if that commits, and keeps no other timer waiting', async () => {
    const steps: number[] = [];
    const shop = service(db, { receptors: [receptor(PlaceOrder, ({ step }) => void steps.push(step))] });
    await using _ = await shop.start();
    const client = await db.pool.connect();
    const [kept, gone] = await shop.send([order(1, 'k'), order(2, 'g')], { delaySeconds: 3600 });
    await client.query('begin');
    expect(await shop.cancel(kept as string, { tx: client })).toBe(true);
    await makeDue(gone as string);
    await eventually(() => expect(steps).toEqual([2]));
    await client.query('rollback');
    await makeDue(kept as string);
    await eventually(() => expect(steps).toEqual([2, 1]));
    expect(await shop.cancel(gone as string)).toBe(false);
    client.release();
  });
});

describe.each(lanes)('Cancelling in the %s', (lane) => {
  it(`a message of the ${lane} that waits is gone, and its stream with it`, async () => {
    const a = instance(db, 'a');
    const [waiting] = stream(1);
    await a.call(lane.stores(waiting), roomless);
    expect(await isCancelled(waiting.message_id)).toBe(true);
    expect(await lane.rows(db)).toEqual([]);
    expect(await a.call()).toEqual([]);
    expect((await db.pool.query('select from wh_active_streams')).rows).toEqual([]);
  });

  it(`a message of the ${lane} that is held is not cancelled, nor one that has failed`, async () => {
    const a = instance(db, 'a');
    const items = await a.call(lane.stores(...stream(1)));
    const id = items[0]?.message_id ?? '';
    expect(await isCancelled(id)).toBe(false);
    await a.call(lane.fails(items, { retry_after_seconds: 60 }));
    expect(await isCancelled(id)).toBe(false);
  });

  it(`a first message of the ${lane} that holds its stream lets it go when it is cancelled`, async () => {
    const a = instance(db, 'a');
    const [first, second] = stream(2);
    const held = { ...first, scheduled_for: '2100-01-01' };
    expect(await a.call(lane.stores(held, second))).toEqual([]);
    expect(await isCancelled(first.message_id)).toBe(true);
    expect(ids(await a.call())).toEqual([second.message_id]);
  });

  it(`a claim and a cancellation that meet in the ${lane}: the first wins`, async () => {
    const a = instance(db, 'a');
    const [claimed, cancelled] = stream(2);
    const claiming = await openSession(db);
    const cancelling = await openSession(db);
    await a.call(lane.stores(claimed), roomless);
    await claiming.client.query('begin');
    const items = await a.over(claiming.client).call();
    expect(ids(items)).toEqual([claimed.message_id]);
    const answer = isCancelled(claimed.message_id, cancelling.client);
    await waitUntilBlocked(db, cancelling.pid);
    await claiming.client.query('commit');
    expect(await answer).toBe(false);
    await a.call(lane.completes(items), lane.stores(cancelled), roomless);
    await cancelling.client.query('begin');
    expect(await isCancelled(cancelled.message_id, cancelling.client)).toBe(true);
    const claim = a.over(claiming.client).call();
    await Promise.race([claim, waitUntilBlocked(db, claiming.pid)]);
    await cancelling.client.query('commit');
    expect(await claim).toEqual([]);
    await Promise.all([claiming.client.end(), cancelling.client.end()]);
  });
});

describe('OrderPlaced', () => {
  it('an event with a delay that was cancelled is never appended', async () => {
    const shop = service(db);
    await using _ = await shop.start();
    const id = await shop.publish(OrderPlaced({ orderId: 'a' }), { delaySeconds: 60 });
    expect(await shop.cancel(id)).toBe(true);
    expect((await db.pool.query('select from wh_event_store')).rows).toEqual([]);
  });

  it('cancel of a message that nobody has a receptor for lets its stream go on', async () => {
    const steps: number[] = [];
    const shop = service(db, { receptors: [receptor(PlaceOrder, ({ step }) => void steps.push(step))] });
    await using _ = await shop.start();
    const unknown = newMessageId();
    await db.pool.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data, stream_id)
       values ($1, 'Unknown', 'Unknown', '{}', $2)`,
      [unknown, streamIdOf('a')],
    );
    await shop.send(order(1));
    await eventually(async () => {
      const { rows } = await db.pool.query('select waits_for from wh_active_streams');
      expect(rows).toEqual([{ waits_for: 'Unknown' }]);
    });
    expect(await isCancelled(unknown)).toBe(true);
    await eventually(() => expect(steps).toEqual([1]));
  });
});
