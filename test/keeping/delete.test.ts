// A deleted stream is gone, and its versions never begin anew.
import { describe, expect, it } from 'vitest';
import { decider, streamIdOf } from '../../src/index.js';
import { Order, OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Customer, email, everythingIn, signedUp } from './customers.js';

type Shop = ReturnType<typeof service>;

const Kept = decider('Kept', { initial: { count: 0 }, snapshotEvery: 1 })
  .on(OrderPlaced, ({ count }) => ({ count: count + 1 }))
  .on(OrderPaid, ({ count }) => ({ count: count + 1 }));

async function allOf(shop: Shop): Promise<string[]> {
  const all: string[] = [];
  for await (const { streamId, version } of shop.events.all()) all.push(`${streamId} ${version}`);
  return all;
}

const audit = async (db: TestDatabase) =>
  (await db.pool.query<{ found: string[] }>('select wh_audit_ticks() as found')).rows[0]?.found;

describe.concurrent('events.delete', () => {
  it('a deleted stream leaves no event, no archived event and no kept state', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const secret = 'a customer that must not be found';
    await shop.events.append(OrderPlaced({ orderId: 'a', customer: secret, cents: 1 }));
    await shop.events.archive('a');
    await shop.events.decide(Kept, 'a', () => OrderPlaced({ orderId: 'a', customer: secret, cents: 1 }));
    expect(await shop.events.delete('a')).toEqual({ streamId: streamIdOf('a'), version: 2 });
    expect(await everythingIn(db)).not.toContain(secret);
    expect((await db.pool.query('select from wh_snapshots')).rowCount).toBe(0);
    expect(await allOf(shop)).toEqual([]);
    expect(await shop.events.delete('a')).toEqual({ streamId: streamIdOf('a'), version: 2 });
  });

  it('a stream that is continued after it was deleted goes on with its versions', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), paid('a')]);
    await shop.events.delete('a');
    expect(await shop.events.load(Order, 'a')).toMatchObject({ state: { status: 'new' }, version: 2 });
    await expect(shop.events.append(placed('a'), { expectedVersion: 0 })).rejects.toMatchObject({
      code: 'EXPECTED_VERSION',
      details: { actualVersion: 2 },
    });
    const decided = await shop.events.decide(Order, 'a', ({ status }, version) => {
      expect([status, version]).toEqual(['new', 2]);
      return placed('a');
    });
    expect(decided).toMatchObject({ version: 3 });
    expect(await shop.events.load(Order, 'a')).toMatchObject({ state: { changes: 1 }, version: 3 });
  });

  it('a state that was folded before its stream was deleted is not kept after it', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), paid('a')]);
    await shop.events.delete('a');
    await db.pool.query(`select wh_save_snapshot($1, 'Kept', $2, 2, '{"count": 2}')`, [
      streamIdOf('a'),
      Kept.fold,
    ]);
    expect(await shop.events.load(Kept, 'a')).toEqual({ state: { count: 0 }, version: 2 });
    await shop.events.decide(Kept, 'a', () => placed('a'));
    expect(await shop.events.load(Kept, 'a')).toEqual({ state: { count: 1 }, version: 3 });
  });

  it('the order of all events goes on behind deleted events, and the audit finds nothing', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    for (const id of ['a', 'b', 'c']) await shop.events.append([placed(id), paid(id)]);
    const before = await allOf(shop);
    await shop.events.append(placed('d'));
    await shop.events.delete('b');
    await shop.events.delete('d');
    await shop.events.append(paid('a'));
    const left = before.filter((event) => !event.startsWith(streamIdOf('b')));
    for (let i = 0; i < 3; i++) {
      expect(await allOf(shop)).toEqual([...left, `${streamIdOf('a')} 3`]);
      expect(await audit(db)).toEqual([]);
    }
  });

  it('a reader passes thousands of ticks whose events were all deleted', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    for (let i = 0; i < 600; i++) {
      await shop.events.append(placed('gone'));
      await db.pool.query('select wh_tick()');
    }
    await shop.events.append(placed('last'));
    await shop.events.delete('gone');
    expect(await allOf(shop)).toEqual([`${streamIdOf('last')} 1`]);
  });

  it('a stream is not deleted while an event of it waits to be appended', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'));
    await db.pool.query(
      `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id, is_event)
       values (gen_random_uuid(), 'OrderPaid', 'OrderPaid', '{}', $1, true)`,
      [streamIdOf('a')],
    );
    await expect(shop.events.delete('a')).rejects.toMatchObject({
      code: 'STREAM_NOT_READY',
      message: `Stream ${streamIdOf('a')} cannot be deleted: an event of it waits in the outbox to be appended.`,
    });
    expect(await allOf(shop)).toHaveLength(1);
  });

  it('a stream that does not exist cannot be deleted', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await expect(shop.events.delete('nothing')).rejects.toMatchObject({ code: 'UNKNOWN_STREAM' });
  });

  it('a delete waits for a transaction that appends, and takes its event too', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'));
    const client = await db.connect();
    await client.query('begin');
    await shop.events.append(paid('a'), { tx: client });
    const deleted = shop.events.delete('a');
    await client.query('commit');
    expect(await deleted).toMatchObject({ version: 2 });
    expect(await allOf(shop)).toEqual([]);
  });

  it('a delete and a forget that are killed before their commit have done nothing', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(signedUp());
    for (const [text, value] of [
      ['wh_delete_stream($1)', streamIdOf('ada')],
      ['wh_forget($1)', 'ada'],
    ]) {
      const client = await db.connect();
      await client.query('begin');
      await client.query(`select ${text}`, [value]);
      const { rows } = await client.query('select pg_backend_pid() as pid');
      await db.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    }
    // It waits until the killed session has given back its locks.
    expect(await shop.events.append(signedUp())).toMatchObject({ version: 2 });
    expect(await shop.events.load(Customer, 'ada')).toMatchObject({ state: { email }, version: 2 });
    expect((await db.pool.query('select from wh_subject_keys')).rowCount).toBe(1);
  });
});
