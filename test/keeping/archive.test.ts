// An archived stream is read, decided upon and continued as before; the order of all events stays as it is.
import { describe, expect, it } from 'vitest';
import { appendEvents } from '../../src/coordinator/index.js';
import { streamIdOf } from '../../src/index.js';
import { Order, OrderPaid, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { CustomerSignedUp, email, leaksIn, signedUp } from './customers.js';

type Shop = ReturnType<typeof service>;

async function versionsOf(shop: Shop, id: string, options = {}): Promise<number[]> {
  const versions: number[] = [];
  for await (const { version } of shop.events.stream(id, options)) versions.push(version);
  return versions;
}

async function allOf(shop: Shop, after?: string): Promise<string[]> {
  const all: string[] = [];
  for await (const { type, version, position } of shop.events.all({ after })) {
    all.push(`${position} ${type} ${version}`);
  }
  return all;
}

async function countsIn(db: TestDatabase): Promise<number[]> {
  const text =
    'select (select count(*) from wh_event_store)::int as kept, (select count(*) from wh_event_archive)::int as archived';
  const { rows } = await db.pool.query<{ kept: number; archived: number }>(text);
  return rows.flatMap(({ kept, archived }) => [kept, archived]);
}

const audit = async (db: TestDatabase) =>
  (await db.pool.query<{ found: string[] }>('select wh_audit_ticks() as found')).rows[0]?.found;

describe.concurrent('events.archive', () => {
  it('an archived stream is in the archive, and is read in both directions as before', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), paid('a'), placed('b')]);
    const archived = await shop.events.archive('a');
    expect(archived).toEqual({ streamId: streamIdOf('a'), version: 2, events: 2 });
    expect(await shop.events.archive('a')).toEqual(archived);
    expect(await countsIn(db)).toEqual([1, 2]);
    expect(await versionsOf(shop, 'a')).toEqual([1, 2]);
    expect(await versionsOf(shop, 'a', { backwards: true, limit: 1 })).toEqual([2]);
    expect(await shop.events.load(Order, 'a')).toMatchObject({ state: { status: 'paid' }, version: 2 });
  });

  it('an archived stream is continued by appends and decisions, and archived again', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'));
    await shop.events.archive('a');
    expect(await shop.events.append(paid('a'), { expectedVersion: 1 })).toMatchObject({ version: 2 });
    expect(await shop.events.decide(Order, 'a', () => paid('a'))).toMatchObject({ version: 3 });
    expect(await countsIn(db)).toEqual([2, 1]);
    expect(await versionsOf(shop, 'a')).toEqual([1, 2, 3]);
    expect(await shop.events.archive('a')).toMatchObject({ version: 3, events: 3 });
    expect(await versionsOf(shop, 'a', { after: 1 })).toEqual([2, 3]);
  });

  it('an event that is sent again after its stream was archived is not appended again', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const receipt = await shop.events.append(placed('a'));
    await shop.events.archive('a');
    const { eventId, streamId, version, sequenceNumber } = receipt;
    const again = {
      messageId: eventId,
      streamId,
      destination: 'OrderPlaced',
      eventType: 'OrderPlaced',
      eventData: {},
      isEvent: true,
    };
    expect(await appendEvents(db.pool, 'whizbang', [again])).toEqual([
      { eventId, streamId, version, sequenceNumber },
    ]);
    await shop.publish(placed('a'), { messageId: eventId });
    expect(await versionsOf(shop, 'a')).toEqual([1]);
  });

  it('the order of all events is the same before and after streams are archived, and the audit finds nothing', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    for (const id of ['a', 'b', 'c']) await shop.events.append([placed(id), paid(id)]);
    const before = await allOf(shop);
    expect(before).toHaveLength(6);
    await shop.events.archive('a');
    await shop.events.archive('c');
    await shop.events.append(paid('a'));
    const after = await allOf(shop);
    expect(after.slice(0, 6)).toEqual(before);
    expect(after).toHaveLength(7);
    for (let i = 0; i < 3; i++) expect(await audit(db)).toEqual([]);
    expect(await allOf(shop)).toEqual(after);
    expect(await allOf(shop, after[2]?.split(' ')[0])).toEqual(after.slice(3));
  });

  it('a store without ticks has all events in its first ones, also archived ones', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), placed('b')]);
    await shop.events.archive('a');
    expect((await db.pool.query('select from wh_event_ticks')).rowCount).toBe(0);
    expect(await allOf(shop)).toHaveLength(2);
    expect(await audit(db)).toEqual([]);
  });

  it('appends, decisions, readers and archivers at once lose no event and see none twice', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), placed('b')]);
    await allOf(shop);
    let isOver = false;
    const writing = ['a', 'b'].map(async (id) => {
      for (let i = 0; i < 25; i++) await shop.events.decide(Order, id, () => paid(id));
    });
    const archiving = (async () => {
      while (!isOver) {
        for (const id of ['a', 'b']) {
          await shop.events.archive(id).catch((error) => expect(error.code).toBe('STREAM_NOT_READY'));
        }
      }
    })();
    const reading = (async () => {
      while (!isOver) {
        const versions = await versionsOf(shop, 'a');
        expect(versions).toEqual(versions.map((_, i) => i + 1));
      }
    })();
    await Promise.all(writing);
    isOver = true;
    await Promise.all([archiving, reading]);
    await shop.events.archive('a');
    const all = await allOf(shop);
    expect(new Set(all).size).toBe(52);
    expect(all).toHaveLength(52);
    expect(await audit(db)).toEqual([]);
  });

  it('a stream that a perspective has not passed is not archived', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), paid('a')]);
    await db.pool.query(
      `create or replace function whizbang.wh_perspectives_passed(p_stream_id uuid, p_sequence bigint)
       returns boolean language sql as 'select p_sequence < 2'`,
    );
    await expect(shop.events.archive('a')).rejects.toMatchObject({
      code: 'STREAM_NOT_READY',
      retryable: true,
      message: `Stream ${streamIdOf('a')} cannot be archived: a perspective has not applied all of its events.`,
    });
    expect(await countsIn(db)).toEqual([2, 0]);
  });

  it('a stream that does not exist cannot be archived', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await expect(shop.events.archive('nothing')).rejects.toMatchObject({ code: 'UNKNOWN_STREAM' });
  });

  it('an archive that is killed before its commit leaves every event where it was', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), paid('a')]);
    const client = await db.connect();
    await client.query('begin');
    await client.query('select wh_archive_stream($1)', [streamIdOf('a')]);
    const { rows } = await client.query('select pg_backend_pid() as pid');
    await db.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    expect(await shop.events.archive('a')).toMatchObject({ events: 2 });
    expect(await allOf(shop)).toHaveLength(2);
  });

  it('sealed fields of an archived stream are read, and erased by forget', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(signedUp());
    await shop.events.archive('ada');
    expect(await leaksIn(db)).toEqual([]);
    const emails = async () => {
      const read: unknown[] = [];
      for await (const event of shop.events.all())
        if (event.is(CustomerSignedUp)) read.push(event.payload.email);
      return read;
    };
    expect(await emails()).toEqual([email]);
    await shop.forget('ada');
    expect(await emails()).toEqual([null]);
  });

  it('an archived event is found by its type in the order of all events', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), paid('a'), placed('b')]);
    await shop.events.archive('a');
    const types: string[] = [];
    for await (const event of shop.events.all({ events: [OrderPaid] })) types.push(event.type);
    expect(types).toEqual(['OrderPaid']);
  });
});
