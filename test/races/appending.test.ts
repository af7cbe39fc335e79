// Appends in open transactions beside coordinator calls on the same streams: nothing lost, no gap, and others go on.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { fromDatabaseError } from '../../src/database/index.js';
import type { TestDatabase } from '../support/database.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { inbox, it, message, outbox, stream } from '../support/work.js';
import { begin, impatient, noRoom, takeover } from './transactions.js';

const event = (stream_id: string, more: object = {}) => message({ stream_id, is_event: true, ...more });

interface Receipt {
  readonly event_id: string;
  readonly stream_id: string;
  readonly version: number;
}

async function append(
  client: { query(text: string, values: unknown[]): Promise<{ rows: unknown[] }> },
  ...events: readonly object[]
): Promise<Receipt[]> {
  const sent = events.map((each) => ({ destination: 'orders', ...each }));
  const { rows } = await client.query('select wh_append($1::text::jsonb) as receipts', [
    JSON.stringify(sent),
  ]);
  return (rows[0] as { receipts: Receipt[] }).receipts;
}

async function versionsIn(db: TestDatabase, stream_id: string): Promise<number[]> {
  const text = 'select version::int from wh_event_store where stream_id = $1 order by version';
  return (await db.pool.query(text, [stream_id])).rows.map(({ version }) => version);
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe('Appends in open transactions', () => {
  it('a call that sends events of a stream with an open append goes on, and all versions follow', async ({
    db,
    a,
    b,
  }) => {
    const [held, free] = [randomUUID(), randomUUID()];
    const writer = await begin(db);
    await append(writer, event(held), event(held));
    const quick = b.over(await impatient(db));
    await quick.call(outbox.stores(event(held), event(free)), inbox.stores(event(free)), noRoom);
    await outbox.insertPlain(db.pool, event(held));
    await quick.call(takeover);
    expect(await versionsIn(db, free)).not.toEqual([]);
    const expecting = await openSession(db);
    const sent = a.over(expecting.client).call(outbox.stores(event(held, { expected_version: 2 })), noRoom);
    expect(await waitUntilBlocked(db, expecting.pid)).toContain(writer.pid);
    await writer.query('commit');
    await sent.catch((error: unknown) => expect(error).toMatchObject({ code: 'WB002' }));
    for (let i = 0; i < 20; i++) {
      const items = await b.call(takeover);
      const of = (source: string) => items.filter((item) => item.source === source);
      await b.call(outbox.completes(of('outbox')), inbox.completes(of('inbox')), noRoom);
    }
    expect((await versionsIn(db, held)).length).toBeGreaterThanOrEqual(4);
    for (const id of [held, free]) {
      const versions = await versionsIn(db, id);
      expect(versions).toEqual(upTo(versions.length));
    }
    expect(await versionsIn(db, free)).toHaveLength(2);
  });

  it('a stream whose first append is rolled back begins with version 1', async ({ db, a }) => {
    const id = randomUUID();
    const writer = await begin(db);
    await append(writer, event(id));
    const next = await openSession(db);
    const waiting = append(next.client, event(id, { expected_version: 0 }));
    expect(await waitUntilBlocked(db, next.pid)).toEqual([writer.pid]);
    await writer.query('rollback');
    expect(await waiting).toMatchObject([{ version: 1 }]);
    await a.call(outbox.stores(event(id, { expected_version: 1 })), noRoom);
    expect(await versionsIn(db, id)).toEqual([1, 2]);
  });

  it('an application that appends in the opposite order of calls without expectations never deadlocks', async ({
    db,
    a,
  }) => {
    const [low, high] = [randomUUID(), randomUUID()].sort() as [string, string];
    for (let round = 0; round < 10; round++) {
      const writer = await begin(db);
      await append(writer, event(high));
      await a.over(await impatient(db)).call(outbox.stores(event(low), event(high)), noRoom);
      await append(writer, event(low));
      await writer.query('commit');
      await writer.client.end();
    }
    const { rows } = await db.pool.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
    for (const id of [low, high]) {
      const versions = await versionsIn(db, id);
      expect(versions).toEqual(upTo(versions.length));
    }
  });
});

describe('Isolation levels', () => {
  it.for(['repeatable read', 'serializable'])(
    'writers at %s on one stream get typed retryable errors, never a wrong version',
    async (level, { db }) => {
      const id = randomUUID();
      let stored = 0;
      const write = async () => {
        const { client } = await openSession(db);
        for (let done = 0; done < 5; ) {
          await client.query(`begin isolation level ${level}`);
          try {
            await append(client, ...stream(2, { stream_id: id, is_event: true }));
            await client.query('commit');
            done++;
            stored += 2;
          } catch (error) {
            await client.query('rollback');
            expect(fromDatabaseError(error)).toMatchObject({ retryable: true });
          }
        }
      };
      await Promise.all(Array.from({ length: 6 }, write));
      expect(await versionsIn(db, id)).toEqual(upTo(stored));
    },
  );
});

describe('Event ids', () => {
  it.for([
    ['alone', 0],
    ['before others', 1],
  ] as const)(
    'an event id that two open appends use in two streams, %s, is stored once, without a gap',
    async ([, others], { db }) => {
      const [one, two] = [randomUUID(), randomUUID()];
      const twice = event(one);
      const second = [{ ...twice, stream_id: two }, ...stream(others, { stream_id: two, is_event: true })];
      const writer = await begin(db);
      await append(writer, twice);
      const other = await openSession(db);
      const waiting = append(other.client, ...second).then(
        () => 'appended',
        (error: unknown) => fromDatabaseError(error),
      );
      expect(await waitUntilBlocked(db, other.pid)).toEqual([writer.pid]);
      await writer.query('commit');
      expect(await waiting).toMatchObject({ code: 'SERIALIZATION', retryable: true });
      expect(await versionsIn(db, two)).toEqual([]);
      expect(await append(other.client, ...second)).toMatchObject([
        { event_id: twice.message_id, stream_id: one, version: 1 },
        ...upTo(others).map((version) => ({ stream_id: two, version })),
      ]);
      expect(await versionsIn(db, two)).toEqual(upTo(others));
    },
  );
});
