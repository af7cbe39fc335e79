import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { inbox, it, message, outbox, stream, streams } from '../support/work.js';

const events = async (db: TestDatabase) =>
  (await db.pool.query('select *, version::int from wh_event_store order by sequence_number')).rows;
const versions = async (db: TestDatabase) =>
  (await events(db)).map(({ event_id, version }) => [event_id, version]);

describe('The event store', () => {
  it('events of both lanes in one call get versions of their stream without a gap', async ({ db, a }) => {
    const [sent, received] = [stream(2, { is_event: true }), stream(2, { is_event: true })];
    const stream_id = crypto.randomUUID();
    await a.call(
      outbox.stores(...sent.map((each) => ({ ...each, stream_id }))),
      inbox.stores(...received.map((each) => ({ ...each, stream_id }))),
    );
    expect((await events(db)).map(({ version }) => version)).toEqual([1, 2, 3, 4]);
  });

  it('an event that comes back into the inbox of its database is appended once', async ({ db, a }) => {
    const [event] = stream(1, { is_event: true });
    if (!event) throw new Error('one event');
    await a.call(outbox.stores(event));
    expect(await a.call(inbox.stores(event))).toHaveLength(1);
    expect(await events(db)).toHaveLength(1);
  });

  it('an event that is sent and received in one call is appended once', async ({ db, a }) => {
    const [event] = stream(1, { is_event: true });
    if (!event) throw new Error('one event');
    expect(await a.call(outbox.stores(event), inbox.stores(event))).toHaveLength(2);
    expect(await versions(db)).toEqual([[event.message_id, 1]]);
  });

  it('the event behind one that came back gets the next version of the stream', async ({ db, a }) => {
    const [first, second] = stream(2, { is_event: true });
    if (!first || !second) throw new Error('two events');
    await a.call(outbox.stores(first));
    await a.call(inbox.stores(first, second));
    expect((await events(db)).map(({ version }) => version)).toEqual([1, 2]);
  });

  it('the aggregate type is the last name of the event type, without the suffix Event', async ({ db, a }) => {
    const types = ['shop.orders.OrderPlacedEvent', 'OrderPlaced', 'Shop+OrderEvent', 'shop/order', 'Event'];
    await a.call(
      outbox.stores(
        ...types.map((event_type) => ({
          ...message(),
          event_type,
          is_event: true,
          stream_id: crypto.randomUUID(),
        })),
      ),
    );
    expect((await events(db)).map(({ aggregate_type }) => aggregate_type)).toEqual([
      'OrderPlaced',
      'OrderPlaced',
      'Order',
      'order',
      'Event',
    ]);
  });

  it('every event gets a sequence_number of its own', async ({ db, a }) => {
    await a.call(outbox.stores(...streams(3, { is_event: true })));
    await a.call(inbox.stores(...streams(3, { is_event: true })));
    const numbers = (await events(db)).map(({ sequence_number }) => Number(sequence_number));
    expect(new Set(numbers).size).toBe(6);
  });
});
