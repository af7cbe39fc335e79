// By rule, old streams are archived or deleted, and no others.
import { describe, expect, it } from 'vitest';
import { StoreAccess } from '../../src/events/index.js';
import { createWhizbang, type RetentionRule, streamIdOf } from '../../src/index.js';
import { StreamRetention } from '../../src/retention/index.js';
import { OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const retentionOf = (db: TestDatabase, ...events: RetentionRule[]) =>
  new StreamRetention(new StoreAccess({ pool: db.pool, schema: 'whizbang' }), events);

const never = new AbortController().signal;

/** Makes the events of these streams older. */
async function age(db: TestDatabase, days: number, ...ids: string[]): Promise<void> {
  for (const table of ['wh_event_store', 'wh_event_archive']) {
    await db.pool.query(
      `update ${table} set created_at = created_at - make_interval(days => $1) where stream_id = any($2)`,
      [days, ids.map((id) => streamIdOf(id))],
    );
  }
}

async function streamsIn(db: TestDatabase, table: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(`select distinct stream_id as id from ${table}`);
  const names = new Map(['a', 'b', 'c', 'd'].map((name) => [streamIdOf(name), name]));
  return rows.map(({ id }) => names.get(id) ?? id).sort();
}

describe.concurrent('Retention', () => {
  it('streams whose last event is old and of a type of the rule are archived, and no others', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    for (const id of ['a', 'b', 'c', 'd']) await shop.events.append(placed(id));
    await shop.events.append([paid('a'), paid('b'), paid('d')]);
    await age(db, 91, 'a', 'c', 'd');
    await shop.events.append(paid('d'));
    const retention = retentionOf(db, { last: [OrderPaid], days: 90, action: 'archive' });
    expect(await retention.pass(never, 0)).toBe(1);
    expect(await streamsIn(db, 'wh_event_archive')).toEqual(['a']);
    expect(await streamsIn(db, 'wh_event_store')).toEqual(['b', 'c', 'd']);
    expect(await retention.pass(never, 0)).toBe(0);
  });

  it('archived streams are deleted by a rule of their aggregate', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), placed('b'), paid('c')]);
    await age(db, 400, 'a', 'b', 'c');
    await shop.events.archive('a');
    expect(
      await retentionOf(db, { aggregate: 'OrderPlaced', days: 365, action: 'delete' }).pass(never, 0),
    ).toBe(2);
    expect(await streamsIn(db, 'wh_events')).toEqual(['c']);
  });

  it('a pass through more events than a step looks at finds every old stream', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const ids = Array.from({ length: 40 }, (_, i) => `stream-${i}`);
    for (const id of ids) await shop.events.append(Array.from({ length: 30 }, () => placed(id)));
    await age(db, 2, ...ids);
    const rule = { last: [OrderPlaced], days: 1, action: 'archive' } as const;
    expect(await retentionOf(db, rule).pass(never, 0)).toBe(40);
    expect((await db.pool.query('select from wh_event_store')).rowCount).toBe(0);
  });

  it('a stream that goes on after it was found is not deleted', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'));
    const text = 'select wh_delete_stream($1, 1) as answer';
    await shop.events.append(paid('a'));
    const { rows } = await db.pool.query(text, [streamIdOf('a')]);
    expect(rows).toEqual([{ answer: { outcome: 'changed' } }]);
    expect(await streamsIn(db, 'wh_event_store')).toEqual(['a']);
  });

  it('a running instance applies its rules, and stops', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, {
      retention: { events: [{ last: [OrderPaid], days: 1, action: 'archive' }] },
    });
    await shop.events.append([placed('a'), paid('a')]);
    await age(db, 2, 'a');
    await shop.start();
    await eventually(async () => expect(await streamsIn(db, 'wh_event_archive')).toEqual(['a']));
  });

  it.each([
    ['retention is not', 'all'],
    ['retention.events is not', { events: 7 }],
    ['there is no option streams', { streams: [] }],
    ['days is missing', { events: [{ last: [OrderPaid], action: 'archive' }] }],
    ['days is 0', { events: [{ last: [OrderPaid], days: 0, action: 'archive' }] }],
    ['action is neither', { events: [{ last: [OrderPaid], days: 1, action: 'keep' }] }],
    ['it names neither', { events: [{ days: 1, action: 'delete' }] }],
    ['last is not a list', { events: [{ last: ['OrderPaid'], days: 1, action: 'delete' }] }],
  ])('an instance is refused with rules of which %s', (fact, retention) => {
    const connectionString = 'postgres://localhost/none';
    const create = () => createWhizbang({ service: 'shop', connectionString, retention: retention as never });
    expect(create).toThrow(fact);
    expect(create).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });
});
