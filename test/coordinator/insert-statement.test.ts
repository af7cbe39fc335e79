// The one insert that sends in a user's transaction, on a real PostgreSQL.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { transactionalInsert, WorkCoordinator } from '../../src/coordinator/index.js';
import { Dispatcher } from '../../src/dispatch/index.js';
import { MessageProcessingStatus, type NewOutboxMessage, type WorkItem } from '../../src/message.js';
import { newMessageId } from '../../src/message-id.js';
import { readEnvelope } from '../../src/messages/index.js';
import { migrate } from '../../src/migrate/index.js';
import { OrderPlaced, PlaceOrder } from '../dispatch/shop.js';
import { refusalOf } from '../messages/refusal.js';
import { createTestDatabase } from '../support/database.js';

type Client = Pick<pg.Client, 'query'>;

const insert = transactionalInsert('whizbang');

async function store(client: Client, messages: readonly NewOutboxMessage[]) {
  const { text, values } = insert(messages);
  return client.query(text, values);
}

const dispatcher = new Dispatcher({
  service: 'shop',
  instanceId: randomUUID(),
  outbox: { store: async (messages, tx) => void (await store(tx as Client, messages)) },
});

const aMessage = (rest: Partial<NewOutboxMessage> = {}): NewOutboxMessage => ({
  messageId: newMessageId(),
  destination: 'orders',
  eventType: 'PlaceOrder',
  eventData: { orderId: 'a' },
  ...rest,
});

const coordinatorOf = (pool: pg.Pool) => new WorkCoordinator({ pool, instance: { serviceName: 'shop' } });

const storedIds = async (client: Client) => {
  const { rows } = await client.query('select message_id from wh_outbox order by sequence_order');
  return rows.map((row: { message_id: string }) => row.message_id);
};

function groupByStream(items: readonly WorkItem[]): Map<string | null, WorkItem[]> {
  const streams = new Map<string | null, WorkItem[]>();
  for (const item of items) streams.set(item.streamId, [...(streams.get(item.streamId) ?? []), item]);
  return streams;
}

describe('A message sent in a transaction', () => {
  it('a message sent in a transaction is stored at the commit, and not after a rollback', async () => {
    await using db = await createTestDatabase();
    const client = await db.connect();
    await client.query('begin');
    await dispatcher.publish(OrderPlaced({ orderId: 'a', total: 1 }), { tx: client });
    await client.query('rollback');
    await client.query('begin');
    const kept = await dispatcher.publish(OrderPlaced({ orderId: 'a', total: 2 }), { tx: client });
    expect(await storedIds(db.pool)).toEqual([]);
    await client.query('commit');
    expect(await storedIds(db.pool)).toEqual([kept]);
  });

  it.each(['read committed', 'repeatable read', 'serializable'])(
    'a message can be sent in a %s transaction',
    async (level) => {
      await using db = await createTestDatabase();
      const client = await db.connect();
      await client.query(`begin isolation level ${level}`);
      const id = await dispatcher.send(PlaceOrder({ orderId: 'a' }), { tx: client });
      await client.query('commit');
      expect(await storedIds(db.pool)).toEqual([id]);
    },
  );

  it('a message sent in a transaction arrives with its whole envelope', async () => {
    await using db = await createTestDatabase();
    const scope = { tenant: `O'Hara "☃" \\ $1 {}` };
    const payload = { orderId: `'; drop table wh_outbox; -- "𝄞" \\u0000 \n`, total: 1.5 };
    const options = { tx: db.pool, scope, correlationId: `a "b" 'c' ☃` };
    const messageId = await dispatcher.publish(OrderPlaced(payload), options);
    const { outbox } = await coordinatorOf(db.pool).processWorkBatch();
    expect(outbox).toHaveLength(1);
    const envelope = await readEnvelope(outbox[0] as (typeof outbox)[0], OrderPlaced);
    expect(envelope).toMatchObject({
      messageId,
      type: 'OrderPlaced',
      kind: 'event',
      payload,
      streamId: OrderPlaced.streamOf(payload),
      correlationId: options.correlationId,
      causationId: null,
      hops: [{ service: 'shop' }],
      scope,
      schemaVersion: 1,
    });
  });

  it('a message sent while another is handled continues its conversation across the database', async () => {
    await using db = await createTestDatabase();
    const orders = coordinatorOf(db.pool);
    const first = await dispatcher.send(PlaceOrder({ orderId: 'a' }), {
      tx: db.pool,
      scope: { tenant: 't' },
    });
    const taken = await orders.processWorkBatch();
    const parent = await readEnvelope(taken.outbox[0] as (typeof taken.outbox)[0], PlaceOrder);
    const handling = new Dispatcher({
      service: 'orders',
      instanceId: randomUUID(),
      parent,
      outbox: { store: async (messages, tx) => void (await store(tx as Client, messages)) },
    });
    await handling.publish(OrderPlaced({ orderId: 'b', total: 1 }), { tx: db.pool });
    const next = await orders.processWorkBatch({
      outboxCompletions: [{ messageId: first, status: MessageProcessingStatus.Published }],
    });
    expect(await readEnvelope(next.outbox[0] as (typeof next.outbox)[0], OrderPlaced)).toMatchObject({
      correlationId: first,
      causationId: first,
      scope: { tenant: 't' },
      hops: [{ service: 'shop' }, { service: 'orders' }],
    });
  });

  it('a thousand messages of one statement keep their order', async () => {
    await using db = await createTestDatabase();
    const events = Array.from({ length: 1000 }, (_, i) =>
      OrderPlaced({ orderId: `order-${i % 7}`, total: i }),
    );
    // Ids in falling order: it must be the array that decides.
    const messages: NewOutboxMessage[] = [];
    await new Dispatcher({
      service: 'shop',
      instanceId: randomUUID(),
      outbox: { store: async (all) => void messages.push(...all) },
    }).publish(events);
    const ids = messages.map(({ messageId }) => messageId).reverse();
    const shuffled = messages.map((message, i) => ({ ...message, messageId: ids[i] as string }));
    await store(db.pool, shuffled);
    expect(await storedIds(db.pool)).toEqual(ids);
    const { outbox } = await coordinatorOf(db.pool).processWorkBatch({ maxOutboxItems: 1000 });
    const byStream = groupByStream(outbox);
    expect(byStream.size).toBe(7);
    for (const items of byStream.values()) {
      const totals = items.map(({ eventData }) => (eventData as { total: number }).total);
      expect(totals).toEqual([...totals].sort((a, b) => a - b));
    }
  });

  it('an event sent for a later time waits for it, and is an event of its stream', async () => {
    await using db = await createTestDatabase();
    const at = new Date('2099-01-02T03:04:05.678Z');
    await dispatcher.publish(OrderPlaced({ orderId: 'a', total: 1 }), { tx: db.pool, at });
    const { rows } = await db.pool.query('select scheduled_for, is_event, partition_number from wh_outbox');
    expect(rows).toEqual([{ scheduled_for: at, is_event: true, partition_number: null }]);
    expect((await coordinatorOf(db.pool).processWorkBatch()).outbox).toEqual([]);
  });

  it('a message sent twice under one id is stored once', async () => {
    await using db = await createTestDatabase();
    const messageId = newMessageId();
    for (const total of [1, 2]) {
      await dispatcher.publish(OrderPlaced({ orderId: 'a', total }), { tx: db.pool, messageId });
    }
    const { rows } = await db.pool.query('select event_data from wh_outbox');
    expect(rows).toEqual([{ event_data: { orderId: 'a', total: 1 } }]);
  });

  it('the insert goes into the schema that is named, whatever the search path is', async () => {
    await using db = await createTestDatabase();
    await migrate({ pool: db.pool, schema: 'Odd "name"' });
    const { text, values } = transactionalInsert('Odd "name"')([aMessage()]);
    await db.pool.query(text, values);
    expect(await storedIds(db.pool)).toEqual([]);
    const { rows } = await db.pool.query('select count(*)::int as n from "Odd ""name""".wh_outbox');
    expect(rows).toEqual([{ n: 1 }]);
  });

  it('the insert returns no rows, which some drivers cannot read', async () => {
    await using db = await createTestDatabase();
    const result = await store(db.pool, [aMessage(), aMessage()]);
    expect(result.rows).toEqual([]);
    expect(result.fields).toEqual([]);
  });

  it('the insert leaves the defaults of the table to fields that a message does not have', async () => {
    await using db = await createTestDatabase();
    const [said, plain] = [aMessage(), aMessage()];
    await store(db.pool, [said]);
    await db.pool.query(
      'insert into wh_outbox (message_id, destination, event_type, event_data) values ($1, $2, $3, $4)',
      [plain.messageId, plain.destination, plain.eventType, plain.eventData],
    );
    const columns = "to_jsonb(o) - '{message_id,sequence_order,created_at,stream_key}'::text[] as columns";
    const { rows } = await db.pool.query(`select ${columns} from wh_outbox o order by sequence_order`);
    expect(rows[0]).toEqual(rows[1]);
  });
});

describe('A message that is refused before the insert', () => {
  it.each([
    ['messageId', { messageId: 'order-1' }],
    ['destination', { destination: '' }],
    ['eventType', { eventType: undefined as unknown as string }],
    ['eventData', { eventData: null }],
    ['eventData.note', { eventData: { note: 'a\0b' } }],
    ['eventData.note', { eventData: { note: '\ud834' } }],
    ['eventData.cents', { eventData: { cents: 5n } }],
    ['scope.tenant', { scope: { tenant: '\0' } }],
    ['streamId', { streamId: 'order-1' }],
    ['scheduledFor', { scheduledFor: new Date(Number.NaN) }],
    ['expectedVersion', { expectedVersion: 1 }],
  ])('a message with a bad %s is refused by the name of the field', async (field, rest) => {
    const error = await refusalOf(() => insert([aMessage(), aMessage(rest)]), 'INVALID_REQUEST');
    expect(error.details.field).toBe(`messages[1].${field}`);
    expect(error.message).toContain(`messages[1].${field} `);
  });

  it('a zero character in a payload is refused with its field, and the transaction goes on', async () => {
    await using db = await createTestDatabase();
    const client = await db.connect();
    await client.query('begin');
    const message = OrderPlaced({ orderId: 'a\0b', total: 1 });
    const error = await refusalOf(() => dispatcher.publish(message, { tx: client }), 'INVALID_MESSAGE');
    expect(error.message).toBe(
      'OrderPlaced: orderId: contains a zero character, which PostgreSQL cannot store.',
    );
    await dispatcher.publish(OrderPlaced({ orderId: 'b', total: 1 }), { tx: client });
    await client.query('commit');
    expect(await storedIds(db.pool)).toHaveLength(1);
  });

  it('a text that only looks like a zero character is stored', async () => {
    await using db = await createTestDatabase();
    const eventData = { note: '\\u0000 \\ud834' };
    await store(db.pool, [aMessage({ eventData })]);
    const { rows } = await db.pool.query('select event_data from wh_outbox');
    expect(rows).toEqual([{ event_data: eventData }]);
  });
});
