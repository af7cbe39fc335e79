// wh_append, called as an application calls it.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { it, message, outbox } from '../support/work.js';

const event = (stream_id: string, more: object = {}) => {
  const { message_id, event_type, event_data, metadata } = message();
  return { message_id, event_type, event_data, metadata, stream_id, ...more };
};

interface Receipt {
  readonly event_id: string;
  readonly stream_id: string;
  readonly version: number;
  readonly sequence_number: number;
}

async function append(db: TestDatabase, ...events: readonly object[]): Promise<Receipt[]> {
  const text = 'select wh_append($1::text::jsonb) as receipts';
  return (await db.pool.query(text, [JSON.stringify(events)])).rows[0].receipts;
}

async function stored(db: TestDatabase): Promise<Receipt[]> {
  const text = `select event_id, stream_id, version::int, sequence_number::int from wh_event_store order by sequence_number`;
  return (await db.pool.query(text)).rows;
}

describe('wh_append', () => {
  it('the receipts of an append say what is stored, in the order of the events', async ({ db }) => {
    const [one, two] = [randomUUID(), randomUUID()];
    const events = [event(two), event(one), event(two)];
    const receipts = await append(db, ...events);
    expect(receipts).toEqual(await stored(db));
    expect(receipts.map(({ event_id, version }) => [event_id, version])).toEqual(
      events.map(({ message_id }, i) => [message_id, [1, 1, 2][i]]),
    );
  });

  it('an append of no events returns no receipts', async ({ db }) => {
    expect(await append(db)).toEqual([]);
  });

  it('an append that is made again returns the same receipts and stores nothing', async ({ db }) => {
    const id = randomUUID();
    const events = [event(id, { expected_version: 0 }), event(id, { expected_version: 1 })];
    const receipts = await append(db, ...events);
    const [others] = await append(db, event(id));
    expect(await append(db, ...events)).toEqual(receipts);
    expect(await stored(db)).toEqual([...receipts, others]);
  });

  it('events between others that are in the store get the next versions, and all get receipts', async ({
    db,
  }) => {
    const id = randomUUID();
    const [first, second, third, fourth] = [event(id), event(id), event(id), event(id)];
    await append(db, second, fourth);
    const receipts = await append(db, first, second, third, fourth);
    expect(receipts.map(({ version }) => version)).toEqual([3, 1, 4, 2]);
    expect((await stored(db)).map(({ event_id }) => event_id)).toEqual(
      [second, fourth, first, third].map(({ message_id }) => message_id),
    );
  });

  it('an id that comes twice in one append is stored once, as it came first', async ({ db }) => {
    const id = randomUUID();
    const [first, second] = [event(id, { event_data: { n: 1 } }), event(id)];
    const receipts = await append(db, first, { ...first, event_data: { n: 2 } }, second);
    expect(receipts.map(({ event_id, version }) => [event_id, version])).toEqual([
      [first.message_id, 1],
      [second.message_id, 2],
    ]);
    const { rows } = await db.pool.query('select event_data from wh_event_store where version = 1');
    expect(rows).toEqual([{ event_data: { n: 1 } }]);
  });

  it.for([
    ['all fields', { metadata: { kind: 'event', aggregateType: 'Cart' }, scope: { tenant: 't' } }],
    ['no metadata', { metadata: undefined, event_type: 'shop.orders.OrderPlacedEvent' }],
    ['a null metadata and a text as payload', { metadata: null, event_data: 'text', event_type: 'Event' }],
  ] as const)('an event with %s is the same row, appended or sent', async ([, fields], { db, a }) => {
    const [appended, sent] = [event(randomUUID(), fields), event(randomUUID(), fields)];
    await append(db, appended);
    await a.call(outbox.stores({ destination: 'orders', is_event: true, ...sent } as never));
    const { rows } = await db.pool.query(
      `select version, event_type, aggregate_type, event_data, metadata, scope, transaction_id <> '0' as has_transaction
       from wh_event_store order by sequence_number`,
    );
    expect(rows).toHaveLength(2);
    expect(rows[0]).toEqual(rows[1]);
  });

  it.for([
    ['stream_id', { stream_id: null }, 'p_events[1].stream_id'],
    ['stream_id', { stream_id: 'x' }, 'p_events[1].stream_id'],
    ['message_id', { message_id: undefined }, 'p_events[1].message_id'],
    ['event_type', { event_type: 5 }, 'p_events[1].event_type'],
    ['event_data', { event_data: null }, 'p_events[1].event_data'],
    ['is_event', { is_event: false }, 'p_events[1].is_event'],
    ['is_event', { is_event: 'true' }, 'p_events[1].is_event'],
    ['expected_version', { expected_version: -1 }, 'p_events[1].expected_version'],
    ['expected_version', { expected_version: '0' }, 'p_events[1].expected_version'],
    ['an unknown key', { delay_seconds: 5 }, 'p_events[1].delay_seconds'],
  ] as const)(
    'an append with a wrong %s (%j) is refused, and stores nothing',
    async ([, wrong, column], { db }) => {
      const id = randomUUID();
      await expect(append(db, event(id), event(id, wrong))).rejects.toMatchObject({ code: 'WB001', column });
      expect(await stored(db)).toEqual([]);
    },
  );

  it('an append that is not a list of objects is refused', async ({ db }) => {
    const given = (value: unknown) =>
      db.pool.query('select wh_append($1::text::jsonb)', [JSON.stringify(value)]);
    for (const value of [{}, 'text', [1]])
      await expect(given(value)).rejects.toMatchObject({ code: 'WB001' });
  });
});
