// Sealed fields are encrypted wherever an event is stored, and opened for whoever reads it.
import { describe, expect, it } from 'vitest';
import { FinalError, receptor } from '../../src/index.js';
import { newMessageId } from '../../src/message-id.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import {
  Customer,
  CustomerSignedUp,
  email,
  everythingIn,
  leaksIn,
  phone,
  signedUp,
  visited,
} from './customers.js';

async function rowsOf(db: TestDatabase, text: string): Promise<unknown[]> {
  return (await db.pool.query(text)).rows;
}

async function inTransaction(db: TestDatabase, work: (tx: object) => Promise<unknown>): Promise<void> {
  const client = await db.connect();
  await client.query('begin');
  await work(client);
  await client.query('commit');
}

describe.concurrent('Sealed fields', () => {
  it('an appended event has null where a field is sealed, and no table has its text', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(signedUp());
    await inTransaction(db, (tx) => shop.events.append(signedUp(), { tx }));
    await shop.events.decide(Customer, 'ada', () => signedUp());
    expect(await rowsOf(db, `select event_data from wh_event_store limit 1`)).toEqual([
      { event_data: { customerId: 'ada', email: null, phones: null, at: '2026-11-17T08:00:00Z' } },
    ]);
    expect(await everythingIn(db)).toContain('CustomerSignedUp');
    // A kept state is what a decider has made of the plain text.
    expect(await leaksIn(db)).toEqual(['whizbang.wh_snapshots']);
    await db.pool.query('delete from wh_snapshots');
    expect(await leaksIn(db)).toEqual([]);
  });

  it('events.stream, events.all and events.load read what was sealed', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([visited(), signedUp(), visited()]);
    const read: unknown[] = [];
    for await (const event of shop.events.stream('ada')) {
      if (event.is(CustomerSignedUp)) read.push(event.payload);
    }
    for await (const event of shop.events.all()) if (event.is(CustomerSignedUp)) read.push(event.payload);
    const at = new Date('2026-11-17T08:00:00Z');
    const payload = { customerId: 'ada', email, phones: [{ number: phone }], at };
    expect(read).toEqual([payload, payload]);
    expect(await shop.events.load(Customer, 'ada')).toEqual({ state: { email, visits: 2 }, version: 3 });
  });

  it('a published event is sealed in the outbox, the inbox and as a dead letter, and its receptor reads it', async () => {
    await using db = await createTestDatabase();
    const seen: unknown[] = [];
    const leaks: string[] = [];
    const welcome = receptor(CustomerSignedUp, async (payload) => {
      seen.push(payload.email, payload.phones?.[0]?.number);
      leaks.push(...(await leaksIn(db)));
      throw new FinalError('no welcome');
    });
    await using shop = service(db, { receptors: [welcome] });
    await inTransaction(db, (tx) => shop.publish(signedUp(), { tx }));
    expect(await rowsOf(db, 'select from wh_outbox union all select from wh_inbox')).toHaveLength(1);
    expect(await leaksIn(db)).toEqual([]);
    await shop.start();
    await eventually(async () => expect(await rowsOf(db, 'select from wh_dead_letters')).toHaveLength(1));
    expect(seen).toEqual([email, phone]);
    expect([...leaks, ...(await leaksIn(db))]).toEqual([]);
    expect(await rowsOf(db, 'select event_type from wh_event_store')).toEqual([
      { event_type: 'CustomerSignedUp' },
    ]);
  });

  it('a receptor that publishes and decides seals in its own transaction', async () => {
    await using db = await createTestDatabase();
    const twice = receptor(CustomerSignedUp, async (payload, ctx) => {
      if (payload.customerId !== 'ada') return;
      await ctx.publish(signedUp('charles'));
      await ctx.decide(Customer, 'grace', () => signedUp('grace'));
    });
    await using shop = service(db, { receptors: [twice], concurrency: 1 });
    await shop.start();
    await shop.publish(signedUp());
    await eventually(async () => {
      expect(await rowsOf(db, 'select subject from wh_subject_keys order by 1')).toEqual(
        ['ada', 'charles', 'grace'].map((subject) => ({ subject })),
      );
      expect(await rowsOf(db, 'select from wh_inbox union all select from wh_outbox')).toEqual([]);
    });
    expect(await leaksIn(db)).toEqual([]);
    expect(await shop.events.load(Customer, 'grace')).toMatchObject({ state: { email } });
  });

  it('a service in another schema of the database has no key, and reads null', async () => {
    await using db = await createTestDatabase();
    const { migrate } = await import('../../src/index.js');
    await migrate({ pool: db.pool, schema: 'mail' });
    const seen: unknown[] = [];
    const welcome = receptor(
      CustomerSignedUp,
      async ({ email, phones, at }) => void seen.push(email, phones, at),
    );
    await using mail = service(db, { service: 'mail', schema: 'mail', receptors: [welcome] });
    await using shop = service(db);
    await mail.start();
    await shop.start();
    await shop.publish(signedUp());
    await eventually(() => expect(seen).toEqual([null, null, new Date('2026-11-17T08:00:00Z')]));
    expect(await leaksIn(db)).toEqual([]);
  });

  it('an encrypted value that was moved to another event or another field is refused', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(signedUp());
    const read = async () => {
      for await (const event of shop.events.stream('ada')) event.is(CustomerSignedUp);
    };
    await read();
    const id = newMessageId();
    await db.pool.query('update wh_event_store set event_id = $1', [id]);
    const refusal = {
      code: 'INVALID_MESSAGE',
      message: expect.stringContaining('email: is sealed, and was changed'),
    };
    await expect(read()).rejects.toMatchObject(refusal);
  });

  it('twenty transactions that seal for a new subject at once use one key', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => shop.events.append(signedUp(i % 2 ? 'ada' : 'grace'))),
    );
    expect(await rowsOf(db, 'select subject, length(key) as bytes from wh_subject_keys order by 1')).toEqual([
      { subject: 'ada', bytes: 32 },
      { subject: 'grace', bytes: 32 },
    ]);
    expect(
      await rowsOf(db, `select count(distinct metadata #>> '{sealed,key}')::int as keys from wh_event_store`),
    ).toEqual([{ keys: 2 }]);
  });
});
