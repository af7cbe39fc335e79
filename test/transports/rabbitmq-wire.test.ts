import { randomUUID } from 'node:crypto';
import type { ConsumeMessage } from 'amqplib';
import { describe, expect, it } from 'vitest';
import type { Delivery, UnreadableContent } from '../../src/transports/index.js';
import { withBroker } from '../support/brokers/broker.js';
import { rabbitmq } from '../support/brokers/rabbitmq.js';
import { eventually } from '../support/eventually.js';
import { type RabbitmqSubject, rabbitmqSubject } from './rabbitmq-services.js';
import { expectOrder, ids, interleaved, message, messageOf, stream, World } from './world.js';

await withBroker(rabbitmq, ({ url }) => {
  const worldOf = async (options = {}) => {
    const subject = await rabbitmqSubject(url, options);
    return { subject, world: new World(subject) };
  };

  describe('RabbitMQ: what other programs see', () => {
    /** What a consumer in another language gets: it binds a queue of its own. */
    const seenBy = async ({ foreign, prefix }: RabbitmqSubject, send: () => Promise<unknown>) => {
      const { queue } = await foreign.assertQueue('', { exclusive: true });
      await foreign.bindQueue(queue, `${prefix}.events`, 'OrderPlaced.*');
      const seen: ConsumeMessage[] = [];
      await foreign.consume(queue, (each) => void (each !== null && seen.push(each)), { noAck: true });
      await send();
      await eventually(() => expect(seen).toHaveLength(1));
      return seen[0] as ConsumeMessage;
    };

    it('an event is a CloudEvent in binary mode, with the bare payload as its body', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      const shop = await world.join('shop');
      const sent = message('OrderPlaced', { streamId: randomUUID(), payload: { total: 12 } });

      const { content, properties } = await seenBy(subject, () => shop.sendAll(sent));

      expect(JSON.parse(content.toString())).toEqual({ total: 12 });
      expect(properties).toMatchObject({
        contentType: 'application/json',
        deliveryMode: 2,
        messageId: sent.messageId,
        type: 'OrderPlaced',
        appId: 'shop',
        timestamp: Date.parse(sent.sentAt as string) / 1000,
        headers: {
          'cloudEvents:specversion': '1.0',
          'cloudEvents:id': sent.messageId,
          'cloudEvents:source': 'shop',
          'cloudEvents:type': 'OrderPlaced',
          'cloudEvents:partitionkey': sent.streamId,
        },
      });
    });

    it('a message whose attributes are too long for headers arrives, in structured mode', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      const shop = await world.join('shop');
      await world.listen('orders', { listensTo: ['OrderPlaced'] });
      const sent = message('OrderPlaced', { metadata: { note: 'ü'.repeat(40_000) } });

      const { properties, content } = await seenBy(subject, () => shop.sendAll(sent));

      expect(properties.contentType).toBe('application/cloudevents+json');
      expect(JSON.parse(content.toString())).toMatchObject({ id: sent.messageId, data: sent.payload });
      const [stored] = await world.untilStored('orders', [sent]);
      expect(stored?.metadata).toEqual(sent.metadata);
    });

    it('a message whose attributes just fit into headers goes in binary mode', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      const shop = await world.join('shop');
      const sent = message('OrderPlaced', { metadata: { note: 'x'.repeat(59_000) } });

      const { properties } = await seenBy(subject, () => shop.sendAll(sent));

      expect(properties.contentType).toBe('application/json');
    });
  });

  describe('RabbitMQ: what other programs send', () => {
    it('an event with headers of other types, named with an underscore, is understood', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      const orders = await world.listen('orders', { stores: false });
      const headers = {
        cloudEvents_specversion: '1.0',
        cloudEvents_id: '7',
        cloudEvents_source: '/till',
        cloudEvents_type: 'sold',
        cloudEvents_time: { '!': 'timestamp', value: 1_767_323_045 },
        cloudEvents_count: 3,
        cloudEvents_urgent: true,
        unrelated: 'x',
      };

      await subject.publish('orders.0', Buffer.from('{"a":1}'), { contentType: 'application/json', headers });

      await orders.untilReceived(1);
      expect(messageOf(orders.deliveries[0] as never)).toMatchObject({
        type: 'sold',
        payload: { a: 1 },
        source: '/till',
        sentAt: '2026-01-02T03:04:05.000Z',
        metadata: { cloudEvent: { count: '3', urgent: 'true' } },
      });
    });

    it('a message that is sent straight to the queue of a service arrives at its name', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      const orders = await world.listen('orders', { stores: false });

      subject.foreign.sendToQueue(`${subject.prefix}.orders`, Buffer.from('?'));

      await orders.untilReceived(1);
      const [{ content }] = orders.deliveries as [Delivery];
      const { unreadable, bytes, address } = content as UnreadableContent;
      expect([unreadable, Buffer.from(bytes).toString(), address]).toEqual([
        'It is not JSON.',
        '?',
        'orders',
      ]);
    });
  });

  describe('RabbitMQ: queues and shards', () => {
    it('a command to a service that was never started is refused and says what to do', async () => {
      const { world: made } = await worldOf();
      await using world = made;
      const shop = await world.join('shop');
      const command = message('ledger', { metadata: { kind: 'command' } });

      const [outcome] = await shop.send(command);

      expect(outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'NO_RECEIVER', message: expect.stringContaining('ledger') },
      });
      expect(outcome).not.toMatchObject({ final: true });
      await world.listen('ledger');
      await shop.sendAll(command);
      await world.untilStored('ledger', [command]);
    });

    it('the queues of a service tell how many messages wait and who consumes', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      const orders = await world.listen('orders', { prefetch: 2, stores: false });
      await world.listen('orders', { prefetch: 2, stores: false });
      await orders.sendAll(...stream('orders', 5));
      await orders.untilReceived(2);

      const name = `${subject.prefix}.orders`;
      // Of a quorum queue, the broker counts the active consumer only.
      const untold = { unacknowledged: null, oldestSeconds: null };
      await eventually(async () =>
        expect(await orders.connection.inspect?.()).toEqual([{ name, depth: 3, consumers: 1, ...untold }]),
      );
    });

    it('streams over four shards keep their order while instances crash, also from a sender with other shards', async () => {
      const { subject, world: made } = await worldOf({ shards: 4 });
      await using world = made;
      const shop = (await subject.joinWith('shop', { shards: 3 })).connection;
      const messages = interleaved(Array.from({ length: 30 }, () => stream('orders', 10)));
      const instances = [await world.listen('orders', { prefetch: 20 }), await world.listen('orders')];

      for (let sent = 0; sent < messages.length; sent += 100) {
        const outcomes = await shop.send(messages.slice(sent, sent + 100), new AbortController().signal);
        expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['sent']));
        await eventually(async () => expect((await world.stored('orders')).length).toBeGreaterThan(sent));
        await instances.shift()?.crash();
        instances.push(await world.listen('orders', { prefetch: 20 }));
      }

      expectOrder(await world.untilStored('orders', messages), messages);
      expect(await instances[0]?.connection.inspect?.()).toHaveLength(4);
      await shop.close();
    });

    it('streams over four shards keep their order while instances join, stop cleanly and crash', async () => {
      const { world: made } = await worldOf({ shards: 4 });
      await using world = made;
      const shop = await world.join('shop');
      const messages = interleaved(Array.from({ length: 30 }, () => stream('orders', 12)));
      const habits = { prefetch: 20 };
      const instances = [await world.listen('orders', habits), await world.listen('orders', habits)];

      for (let sent = 0, turn = 0; sent < messages.length; sent += 60, turn++) {
        await shop.sendAll(...messages.slice(sent, sent + 60));
        await eventually(async () => expect((await world.stored('orders')).length).toBeGreaterThan(sent));
        const joining = world.listen('orders', habits);
        const leaving = instances.shift();
        // One that stops acknowledges what it has; one that crashes leaves it to the next.
        if (turn % 2 === 0) await leaving?.receiver?.stop();
        else await leaving?.crash();
        instances.push(await joining);
      }

      expectOrder(await world.untilStored('orders', messages), messages);
    });

    it('a queue that is deleted under a running service is declared again', async () => {
      const { subject, world: made } = await worldOf();
      await using world = made;
      const shop = await world.join('shop');
      await world.listen('orders');

      await subject.foreign.deleteQueue(`${subject.prefix}.orders`);

      const command = message('orders', { metadata: { kind: 'command' } });
      await eventually(() => shop.sendAll(command));
      await world.untilStored('orders', [command]);
      expect(ids(await world.stored('orders'))).toEqual([command.messageId]);
    });
  });
});
