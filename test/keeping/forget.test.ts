// After `forget` no answer has the plain text, and everything is still readable.
import { describe, expect, it } from 'vitest';
import { StoreAccess, SubjectKeys } from '../../src/events/index.js';
import { streamIdOf } from '../../src/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Customer, CustomerSignedUp, email, everythingIn, leaksIn, signedUp, visited } from './customers.js';

type Shop = ReturnType<typeof service>;

async function payloadsOf(shop: Shop, id = 'ada'): Promise<unknown[]> {
  const read: unknown[] = [];
  for await (const event of shop.events.stream(id)) if (event.is(CustomerSignedUp)) read.push(event.payload);
  return read;
}

/** Resolves when a session waits in wh_forget for a lock. */
const forgetWaits = (db: TestDatabase) =>
  eventually(async () => {
    const text = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%wh_forget(%'`;
    expect((await db.pool.query(text)).rowCount).toBe(1);
  });

const at = new Date('2026-11-17T08:00:00Z');
const erased = { customerId: 'ada', email: null, phones: null, at };

describe.concurrent('forget', () => {
  it('a forgotten subject has null in its sealed fields, and the rest as its schema makes it', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await using other = service(db);
    await shop.events.append([signedUp(), signedUp('grace')]);
    expect(await other.events.load(Customer, 'ada')).toMatchObject({ state: { email } });
    expect(await shop.forget('ada')).toEqual({
      subject: 'ada',
      wasKnown: true,
      streams: [streamIdOf('ada')],
      rebuild: [],
    });
    for (const reader of [shop, other]) {
      expect(await payloadsOf(reader)).toEqual([erased]);
      expect(await payloadsOf(reader, 'grace')).toMatchObject([{ email }]);
      expect(await reader.events.load(Customer, 'ada')).toMatchObject({ state: { email: null } });
    }
    const all: unknown[] = [];
    for await (const event of shop.events.all({ events: [CustomerSignedUp] })) {
      if (event.is(CustomerSignedUp)) all.push(event.payload.email);
    }
    expect(all).toEqual([null, email]);
  });

  it('a forgotten subject leaves no key, no name of its own and no kept state', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const subject = 'ada';
    await shop.events.decide(Customer, subject, () => [signedUp(), visited()]);
    expect(await leaksIn(db)).toEqual(['whizbang.wh_snapshots']);
    await shop.forget(subject);
    expect(await leaksIn(db)).toEqual([]);
    const { rows } = await db.pool.query(
      'select from wh_subject_keys union all select from wh_subject_streams union all select from wh_snapshots',
    );
    expect(rows).toEqual([]);
    expect(await everythingIn(db)).toContain('CustomerSignedUp');
  });

  it('an unknown subject is nothing to forget', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    expect(await shop.forget('nobody')).toEqual({
      subject: 'nobody',
      wasKnown: false,
      streams: [],
      rebuild: [],
    });
    await expect(async () => shop.forget('')).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  it('a subject that comes back gets a new key, and what was erased stays erased', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(signedUp());
    await shop.forget('ada');
    await shop.events.append(signedUp());
    expect(await payloadsOf(shop)).toMatchObject([{ email: null }, { email }]);
    expect(await shop.forget('ada')).toMatchObject({ wasKnown: true, streams: [streamIdOf('ada')] });
    expect(await payloadsOf(shop)).toEqual([erased, erased]);
  });

  it('forget waits for a transaction that has sealed for the subject, and erases what it has stored', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(signedUp());
    const client = await db.connect();
    await client.query('begin');
    await shop.events.decide(Customer, 'ada', () => [visited(), signedUp()], { tx: client });
    await shop.events.append(signedUp('ada'), { tx: client });
    const forgotten = shop.forget('ada');
    await forgetWaits(db);
    await client.query('commit');
    expect(await forgotten).toMatchObject({ wasKnown: true });
    expect(await leaksIn(db)).toEqual([]);
    expect(await payloadsOf(shop)).toEqual([erased, erased, erased]);
    expect(await shop.events.load(Customer, 'ada')).toEqual({
      state: { email: null, visits: 1 },
      version: 4,
    });
  });

  it('a state that was loaded before forget is not kept after it', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(signedUp());
    const streamId = streamIdOf('ada');
    const { rows } = await db.pool.query(`select wh_load_stream($1, 'Customer', 'f', 10) as loaded`, [
      streamId,
    ]);
    const keyIds: string[] = rows[0].loaded.key_ids;
    expect(keyIds).toHaveLength(1);
    const save = () =>
      db.pool.query(`select wh_save_snapshot($1, 'Customer', 'f', 1, $2, $3)`, [streamId, { email }, keyIds]);
    await save();
    expect(await leaksIn(db)).toEqual(['whizbang.wh_snapshots']);
    await shop.forget('ada');
    await save();
    expect(await leaksIn(db)).toEqual([]);
  });

  it('a key that a transaction holds for what it writes is deleted after its end, and not before', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(signedUp());
    const client = await db.connect();
    const access = new StoreAccess({ pool: db.pool, schema: 'whizbang' });
    const { rows } = await db.pool.query('select * from wh_event_store');
    await client.query('begin');
    const [opened] = await new SubjectKeys(access).openEvents(rows, { tx: client, holds: true });
    expect(opened).toMatchObject({ event_data: { email } });
    const forgotten = shop.forget('ada');
    await forgetWaits(db);
    await client.query('create table model (email text)');
    await client.query('insert into model values ($1)', [email]);
    await client.query('commit');
    expect(await forgotten).toMatchObject({ wasKnown: true });
    const [after] = await new SubjectKeys(access).openEvents(rows);
    expect(after).toMatchObject({ event_data: { email: null }, erased: ['email', 'phones'] });
  });

  it('forget beside appends, decisions and reads leaves every event either readable or erased, and no kept text', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await using other = service(db);
    let isOver = false;
    const writing = [0, 1, 2].map(async (n) => {
      for (let i = 0; i < 15; i++) {
        if (n === 0) await shop.events.append([visited(), signedUp()]);
        else await other.events.decide(Customer, 'ada', () => [signedUp(), visited()]);
      }
    });
    const reading = (async () => {
      while (!isOver) await payloadsOf(other);
    })();
    const forgetting = (async () => {
      for (let i = 0; i < 15; i++) await shop.forget('ada');
    })();
    await Promise.all([...writing, forgetting]);
    isOver = true;
    await reading;
    await shop.forget('ada');
    expect(await leaksIn(db)).toEqual([]);
    expect(await payloadsOf(shop)).toEqual(Array.from({ length: 45 }, () => erased));
    expect((await other.events.load(Customer, 'ada')).state).toEqual({ email: null, visits: 45 });
  });
});
