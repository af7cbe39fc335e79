import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { TransportMessage } from '../../../src/transports/index.js';
import { eventually } from '../../support/eventually.js';
import { expectOrder, ids, message, messageOf, stream, World } from '../world.js';
import { azureSubject, dataOf } from './subject.js';

const bytes = (text: string) => dataOf(Buffer.from(text));

describe('Azure Service Bus: messages on the wire', () => {
  it('a message is a CloudEvent: attributes as properties, the bare payload as the body', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { stores: false });
    const streamId = randomUUID();
    const sent = message('orders', { streamId, payload: { total: 7 } });

    await shop.sendAll(sent);
    await orders.untilReceived(1);

    const [stored] = subject.standIn.namespace.subscription('whizbang', 'orders')?.messages ?? [];
    expect(stored?.message).toMatchObject({
      to: 'orders',
      content_type: 'application/json',
      message_id: sent.messageId,
      application_properties: {
        'cloudEvents:id': sent.messageId,
        'cloudEvents:source': 'shop',
        'cloudEvents:specversion': '1.0',
        'cloudEvents:type': 'OrderPlaced',
        'cloudEvents:partitionkey': streamId,
      },
    });
    expect(String(stored?.message.body.content)).toBe('{"total":7}');
    expect(stored?.message.group_id).toMatch(/^shard-\d+$/);
  });

  it('foreign CloudEvents arrive, in binary and in structured mode', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    const orders = await world.listen('orders', { stores: false });
    const time = new Date('2026-02-03T04:05:06.000Z');

    subject.standIn.publish([
      {
        to: 'orders',
        group_id: 'any',
        content_type: 'application/json',
        application_properties: {
          cloudEvents_specversion: '1.0',
          cloudEvents_id: '1',
          cloudEvents_source: '/python',
          cloudEvents_type: 'Paid',
          cloudEvents_time: time,
          cloudEvents_partitionkey: 'customer-1',
        },
        body: bytes('{"sum":1}'),
      },
      {
        to: 'orders',
        group_id: 'any',
        content_type: 'application/cloudevents+json; charset=utf-8',
        body: bytes('{"specversion":"1.0","id":"2","source":"/go","type":"Paid","data":{"sum":2}}'),
      },
      {
        to: 'orders',
        group_id: 'any',
        application_properties: {
          'cloudEvents:specversion': '1.0',
          'cloudEvents:id': '3',
          'cloudEvents:source': '/value',
          'cloudEvents:type': 'Paid',
        },
        body: '{"sum":3}',
      },
    ] as never);

    await orders.untilReceived(3);
    const arrived = orders.deliveries.map(messageOf);
    expect(arrived.map(({ payload }) => payload)).toEqual([{ sum: 1 }, { sum: 2 }, { sum: 3 }]);
    expect(arrived[0]).toMatchObject({
      source: '/python',
      sentAt: time.toISOString(),
      type: 'Paid',
      address: 'orders',
    });
    expect(arrived[0]?.streamId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('metadata that is longer than properties may be arrives all the same', async () => {
    await using world = new World(await azureSubject());
    const shop = await world.join('shop');
    await world.listen('orders');
    const metadata = { note: 'é'.repeat(50_000) };
    const sent = message('orders', { metadata });

    await shop.sendAll(sent);

    const [stored] = await world.untilStored('orders', [sent]);
    expect(stored?.metadata).toEqual(metadata);
  });

  it('a message that is too large fails for good, holds back its stream, and leaves the others alone', async () => {
    const subject = await azureSubject();
    subject.standIn.maxMessageBytes = 20_000;
    await using world = new World(subject);
    const shop = await world.join('shop');
    await world.listen('orders');
    const [first, second, third] = stream('orders', 3) as [
      TransportMessage,
      TransportMessage,
      TransportMessage,
    ];
    const other = message('orders');

    const outcomes = await shop.send(first, { ...second, payload: 'x'.repeat(20_000) }, third, other);

    expect(outcomes.map(({ kind }) => kind)).toEqual(['sent', 'failed', 'held-back', 'sent']);
    expect(outcomes[1]).toMatchObject({
      final: true,
      error: { code: 'INVALID_MESSAGE', details: { limit: 20_000 } },
    });
    await world.untilStored('orders', [first, other]);
  });

  it('messages are sent up to one size, and refused for good from one byte more on', async () => {
    // One: the name of a shard is one or two digits of the size.
    const subject = await azureSubject({ shards: 1 });
    subject.standIn.maxMessageBytes = 20_000;
    await using world = new World(subject);
    const shop = await world.join('shop');
    await world.listen('orders');
    const ofSize = (size: number) => message('orders', { payload: 'x'.repeat(size) });
    let [fits, exceeds] = [18_000, 20_000];
    const sent: TransportMessage[] = [];
    while (exceeds - fits > 1) {
      const size = Math.floor((fits + exceeds) / 2);
      const each = ofSize(size);
      const [outcome] = await shop.send(each);
      if (outcome?.kind === 'sent') [fits, sent[sent.length]] = [size, each];
      else exceeds = size;
    }

    const outcomes = await shop.send(ofSize(exceeds), ofSize(exceeds));
    expect(outcomes).toMatchObject([
      { kind: 'failed', final: true },
      { kind: 'failed', final: true },
    ]);
    const last = ofSize(fits);
    await shop.sendAll(last);
    await world.untilStored('orders', [...sent, last]);
  });

  it('a stream that fits into no single batch arrives in order', async () => {
    const subject = await azureSubject({ shards: 1 });
    subject.standIn.maxMessageBytes = 20_000;
    await using world = new World(subject);
    const shop = await world.join('shop');
    await world.listen('orders');
    const messages = stream('orders', 40).map((each) => ({ ...each, payload: 'x'.repeat(5_000) }));

    await shop.sendAll(...messages);

    expectOrder(await world.untilStored('orders', messages), messages);
  });

  it('services and topics of any spelling have subscriptions of their own', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    const names = [
      'orders',
      'Orders',
      'or der',
      'a/b.*',
      'naïve 店',
      '<a&b>\u0001',
      'x'.repeat(250),
      `${'x'.repeat(249)}y`,
    ];
    const shop = await world.join('shop');
    for (const name of names) await world.listen(name, { listensTo: [name, `${name} placed`] });
    const sent = names.map((name) => [message(name), message(`${name} placed`)]);

    await shop.sendAll(...sent.flat());

    for (const [i, name] of names.entries()) {
      const stored = await world.untilStored(name, sent[i] ?? []);
      expect(ids(stored).toSorted()).toEqual(ids(sent[i] ?? []).toSorted());
    }
    expect(subject.standIn.namespace.subscriptions()).toHaveLength(names.length);
  });

  it('a message without a session goes to the dead letters of the broker, and inspect shows it', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    const orders = await world.listen('orders', { stores: false });

    subject.standIn.publish([{ to: 'orders', body: bytes('{}') }]);
    await orders.sendAll(message('orders'));
    await orders.untilReceived(1);

    await eventually(async () =>
      expect(await orders.connection.inspect?.()).toMatchObject([
        { name: 'whizbang/orders', depth: 1 },
        { name: 'whizbang/orders/$DeadLetterQueue', depth: 1 },
      ]),
    );
  });
});
