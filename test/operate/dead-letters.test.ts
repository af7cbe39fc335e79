// Dead letters from code: listed, put back in order, discarded.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FinalError, receptor, streamIdOf } from '../../src/index.js';
import { OrderPlaced, PlaceOrder, service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

/** A service whose orders fail for ever while it is broken. */
function breakable(db: TestDatabase) {
  const shop = { isBroken: true, runs: [] as string[] };
  const place = receptor(PlaceOrder, ({ orderId, step }, { attempt }) => {
    if (shop.isBroken) throw new FinalError(`${orderId} is broken`);
    shop.runs.push(`${orderId}${step} ${attempt}`);
  });
  const placed = receptor(OrderPlaced, ({ orderId }) => {
    if (shop.isBroken) throw new FinalError(`${orderId} is broken`);
    shop.runs.push(`placed ${orderId}`);
  });
  return Object.assign(service(db, { receptors: [place, placed] }), { shop });
}

const areDead = (service: ReturnType<typeof breakable>, count: number) =>
  eventually(async () => expect(await service.deadLetters.list()).toHaveLength(count));

/** Dead letters of the type Old, as an earlier version of the service might have left them. */
const storeLetters = (db: TestDatabase, count: number) =>
  db.pool.query(
    `insert into wh_dead_letters (source, message_id, destination, event_type, event_data, is_event, status, flags,
       sequence_order, attempts, stored_at, died_at)
     select 'inbox', gen_random_uuid(), 'Old', 'Old', '1', false, 1, 0, i, 1, now(), now() from generate_series(1, $1::int) i`,
    [count],
  );

describe.concurrent('deadLetters', () => {
  it('dead letters are listed with their story, the newest first, by stream and type, page by page', async () => {
    await using db = await createTestDatabase();
    await using shop = breakable(db);
    await shop.start();
    const [a, b] = await shop.send([PlaceOrder({ orderId: 'a' }), PlaceOrder({ orderId: 'b' })]);
    await areDead(shop, 2);
    const c = await shop.publish(OrderPlaced({ orderId: 'a' }));
    await areDead(shop, 3);
    const all = await shop.deadLetters.list();
    expect(all[0]).toMatchObject({
      messageId: c,
      source: 'inbox',
      type: 'OrderPlaced',
      payload: { orderId: 'a' },
      streamId: streamIdOf('a'),
      attempts: 1,
      error: expect.stringContaining('a is broken'),
      failures: [{ attempt: 1, at: expect.any(Date), error: expect.stringContaining('a is broken') }],
      diedAt: expect.any(Date),
    });
    const idsOf = (letters: readonly { messageId: string }[]) => letters.map(({ messageId }) => messageId);
    expect(idsOf(await shop.deadLetters.list({ type: 'PlaceOrder' })).toSorted()).toEqual([a, b].toSorted());
    expect(idsOf(await shop.deadLetters.list({ streamId: 'a' })).toSorted()).toEqual([a, c].toSorted());
    const page = await shop.deadLetters.list({ limit: 1 });
    const rest = await shop.deadLetters.list({ before: page[0]?.number });
    expect(idsOf([...page, ...rest])).toEqual(idsOf(all));
    expect(await shop.deadLetters.get(c)).toEqual(all[0]);
    expect(await shop.deadLetters.get(randomUUID())).toBeUndefined();
  });

  it('a dead letter that is put back has all its attempts again, and is handled once', async () => {
    await using db = await createTestDatabase();
    await using shop = breakable(db);
    await shop.start();
    const messageId = await shop.send(PlaceOrder({ orderId: 'a' }));
    await areDead(shop, 1);
    shop.shop.isBroken = false;
    const [dry] = await shop.deadLetters.retry(messageId, { dryRun: true });
    expect(dry).toMatchObject({ messageId, type: 'PlaceOrder', streamId: streamIdOf('a'), isBehind: false });
    expect(await shop.deadLetters.list()).toHaveLength(1);
    expect(await shop.deadLetters.retry(messageId)).toEqual([dry]);
    await eventually(async () => expect(shop.shop.runs).toEqual(['a0 1']));
    expect(await shop.deadLetters.list()).toEqual([]);
    expect(await shop.deadLetters.retry(messageId)).toEqual([]);
  });

  it('the dead letters of a stream are put back in their order, by two at once too', async () => {
    await using db = await createTestDatabase();
    await using shop = breakable(db);
    await shop.start();
    const steps = [0, 1, 2, 3, 4].map((step) => PlaceOrder({ orderId: 'a', step }));
    const ids = await shop.send(steps);
    await shop.send(PlaceOrder({ orderId: 'b' }));
    await areDead(shop, 6);
    shop.shop.isBroken = false;
    const retried = await Promise.all([
      shop.deadLetters.retry({ streamId: 'a' }),
      shop.deadLetters.retry({ streamId: 'a' }),
    ]);
    expect(retried.flat().map(({ messageId }) => messageId)).toEqual(ids);
    await eventually(async () => expect(shop.shop.runs).toEqual(['a0 1', 'a1 1', 'a2 1', 'a3 1', 'a4 1']));
    expect(await shop.deadLetters.list()).toHaveLength(1);
  });

  it('a dead letter whose message is in the inbox again is not put back a second time', async () => {
    await using db = await createTestDatabase();
    await using shop = breakable(db);
    await shop.start();
    const messageId = await shop.send(PlaceOrder({ orderId: 'a' }));
    await areDead(shop, 1);
    await shop.stop();
    await db.pool.query(`insert into wh_inbox (message_id, handler_name, event_type, event_data)
      select message_id, destination, event_type, event_data from wh_dead_letters`);
    await using other = service(db);
    expect(await other.deadLetters.retry({ type: 'PlaceOrder' })).toEqual([]);
    expect(await other.deadLetters.get(messageId)).toBeDefined();
  });

  it('a message that could not be sent goes back to the outbox', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { retry: { attempts: 1 } });
    await shop.start();
    const messageId = await shop.send(PlaceOrder({ orderId: 'a' }), { to: 'nobody' });
    await eventually(async () =>
      expect(await shop.deadLetters.get(messageId)).toMatchObject({ source: 'outbox' }),
    );
    await shop.stop();
    await using other = service(db);
    expect(await other.deadLetters.retry({ type: 'PlaceOrder' })).toMatchObject([{ source: 'outbox' }]);
    expect(await other.messages.get(messageId)).toMatchObject({ source: 'outbox', state: 'waiting' });
  });

  it('more dead letters than one transaction takes are put back in order', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await db.pool.query(
      `insert into wh_dead_letters (source, message_id, destination, event_type, event_data, stream_id, is_event,
        status, flags, sequence_order, attempts, stored_at)
      select 'inbox', gen_random_uuid(), 'X', 'X', to_jsonb(i), $1, false, 1, 0, i, 1, now() from generate_series(1, 2500) i`,
      [streamIdOf('a')],
    );
    expect(await shop.deadLetters.retry({ type: 'X' }, { dryRun: true })).toHaveLength(2500);
    expect(await shop.deadLetters.retry({ type: 'X' })).toHaveLength(2500);
    const { rows } = await db.pool.query(`select count(*)::int as wrong from (
      select event_data::int - row_number() over (order by sequence_order) as off from wh_inbox) o where off <> 0`);
    expect(rows).toEqual([{ wrong: 0 }]);
  });

  it('a page of dead letters that another session holds hides none behind it', async () => {
    await using db = await createTestDatabase();
    await using shop = breakable(db);
    await storeLetters(db, 1_200);
    const other = await db.connect();
    await other.query('begin');
    await other.query('select from wh_dead_letters where dead_letter_id <= 1100 for update');
    expect(await shop.deadLetters.discard({ type: 'Old' }, { dryRun: true })).toHaveLength(1_200);
    expect(await shop.deadLetters.discard({ type: 'Old' })).toHaveLength(100);
    await other.query('rollback');
    expect(await shop.deadLetters.retry({ type: 'Old' })).toHaveLength(1_100);
  });

  it('a page of dead letters whose messages are in the inbox again hides none behind it', async () => {
    await using db = await createTestDatabase();
    await using shop = breakable(db);
    await storeLetters(db, 1_200);
    await db.pool.query(`insert into wh_inbox (message_id, handler_name, event_type, event_data)
      select message_id, 'Old', 'Old', '1' from wh_dead_letters where dead_letter_id <= 1100`);
    expect(await shop.deadLetters.retry({ type: 'Old' }, { dryRun: true })).toHaveLength(100);
    expect(await shop.deadLetters.retry({ type: 'Old' })).toHaveLength(100);
    expect(await shop.deadLetters.retry({ type: 'Old' })).toEqual([]);
  });

  it('dead letters are discarded, and a dry run only tells which', async () => {
    await using db = await createTestDatabase();
    await using shop = breakable(db);
    await shop.start();
    const [a, b] = await shop.send([PlaceOrder({ orderId: 'a' }), PlaceOrder({ orderId: 'b' })]);
    await areDead(shop, 2);
    expect(await shop.deadLetters.discard({ type: 'PlaceOrder' }, { dryRun: true })).toHaveLength(2);
    expect(await shop.deadLetters.discard(a as string)).toMatchObject([{ messageId: a }]);
    expect((await shop.deadLetters.list()).map(({ messageId }) => messageId)).toEqual([b]);
    expect(await shop.deadLetters.discard({ streamId: 'b' })).toHaveLength(1);
    expect(await shop.deadLetters.list()).toEqual([]);
  });

  it('deadLetters refuses to act on all, on an unknown key and on what is no id', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const { deadLetters } = shop;
    const refused = expect.objectContaining({ code: 'INVALID_OPTION' });
    await expect(deadLetters.retry({})).rejects.toEqual(refused);
    await expect(deadLetters.discard(undefined as never)).rejects.toEqual(refused);
    await expect(deadLetters.discard({ typ: 'X' } as never)).rejects.toThrow('there is no option typ');
    await expect(deadLetters.retry('order-1')).rejects.toThrow('is not the id of a message');
    await expect(deadLetters.list({ limit: 0 })).rejects.toEqual(refused);
    await expect(db.pool.query('select wh_discard_dead_letters()')).rejects.toMatchObject({ code: 'WB001' });
  });
});
