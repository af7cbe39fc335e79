// What a broker does to its clients on bad days: it is killed, stands still, falls silent, has no memory left, refuses.

import { describe, expect, it } from 'vitest';
import type { TcpProxy } from '../coordinator/tcp-proxy.js';
import { type Broker, withBroker } from '../support/brokers/broker.js';
import {
  type RabbitmqNode,
  rabbitmqIsInstalled,
  startRabbitmqNode,
} from '../support/brokers/rabbitmq-node.js';
import { eventually } from '../support/eventually.js';
import type { Member } from './member.js';
import { rabbitmqSubject } from './rabbitmq-services.js';
import { expectOrder, ids, interleaved, message, messageOf, never, stream, World } from './world.js';

const node: Broker<RabbitmqNode> = {
  name: 'a RabbitMQ node of its own',
  howToTry: 'Install rabbitmq-server.',
  find: async () => (rabbitmqIsInstalled ? startRabbitmqNode() : undefined),
};

const manyStreams = (count: number, length: number) =>
  interleaved(Array.from({ length: count }, () => stream('orders', length)));

const networkOf = ({ instance }: Member) => (instance as unknown as { readonly proxy: TcpProxy }).proxy;

/** Sends as the worker does: until all of it is sent, waiting for `ready` in between. */
async function sendStubbornly(sender: Member, batch: readonly ReturnType<typeof message>[]): Promise<void> {
  for (;;) {
    const outcomes = await sender.send(...batch).catch(() => []);
    if (outcomes.length > 0 && outcomes.every(({ kind }) => kind === 'sent')) return;
    await sender.connection.ready(never);
  }
}

await withBroker(node, (server) => {
  const { url } = server;

  describe('The RabbitMQ transport on bad days', () => {
    it('the first delivery of a RabbitMQ channel comes again when it is rejected in the same turn', async () => {
      await using world = new World(await rabbitmqSubject(url));
      const shop = await world.join('shop');
      await (await world.listen('orders')).connection.close();
      const messages = stream('orders', 5);
      await shop.sendAll(...messages);
      const orders = await world.join('orders');
      const taken: string[] = [];
      let isFirst = true;

      await orders.connection.receive({ addresses: ['orders'], prefetch: 10 }, (delivery) => {
        if (isFirst) void delivery.reject();
        else {
          taken.push(messageOf(delivery).messageId);
          void delivery.acknowledge();
        }
        isFirst = false;
      });

      await eventually(() => expect(taken).toEqual(ids(messages)));
    });

    it('a queue of RabbitMQ that refuses messages holds back their streams and counts no attempt, and others go on', async () => {
      const subject = await rabbitmqSubject(url);
      await using world = new World(subject);
      const shop = await world.join('shop');
      const orders = await world.listen('orders', { stores: false, prefetch: 1 });
      await world.listen('billing');
      const limit = '{"max-length":3,"overflow":"reject-publish"}';
      await server.control(
        'set_policy',
        'short',
        `^${subject.prefix}.orders$`,
        limit,
        '--apply-to',
        'queues',
      );
      await eventually(async () =>
        expect(await server.control('list_queues', 'name', 'policy')).toContain('short'),
      );
      const [messages, others] = [stream('orders', 20), stream('billing', 3)];

      const outcomes = await shop.send(...messages, ...others);

      const refused = outcomes.findIndex(({ kind }) => kind !== 'sent');
      expect(refused).toBeGreaterThan(0);
      expect(outcomes[refused]).toMatchObject({ kind: 'held-back', retryAfterSeconds: expect.any(Number) });
      expect(outcomes.slice(refused + 1, 20)).toEqual(Array(19 - refused).fill({ kind: 'held-back' }));
      await world.untilStored('billing', others);
      await server.control('clear_policy', 'short');
      const storeUpTo = async (count: number) => {
        for (let next = (await world.stored('orders')).length; next < count; next++) {
          await orders.untilReceived(next + 1);
          await orders.store(orders.deliveries[next]);
        }
      };
      await storeUpTo(refused); // the queue takes messages again when it is empty
      await sendStubbornly(shop, messages.slice(refused));
      await storeUpTo(20);
      expectOrder(await world.stored('orders'), messages);
    });

    it('while RabbitMQ has a memory alarm, sending rejects and the connection is not ready', async () => {
      await using world = new World(await rabbitmqSubject(url, { confirmSeconds: 2 }));
      const shop = await world.join('shop');
      await world.listen('orders');
      const messages = manyStreams(2, 10);
      await server.control('set_vm_memory_high_watermark', '0.00001');

      await expect(shop.send(...messages)).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      // Longer than a question may stay without an answer when there is no alarm.
      await expect(shop.connection.ready(AbortSignal.timeout(7_000))).rejects.toMatchObject({
        name: 'TimeoutError',
      });
      await server.control('set_vm_memory_high_watermark', '0.6');

      await sendStubbornly(shop, messages);
      expectOrder(await world.untilStored('orders', messages), messages);
    });

    it('connections to RabbitMQ that fall silent while messages are on their way lose and reorder nothing', async () => {
      await using world = new World(await rabbitmqSubject(url, { confirmSeconds: 3 }));
      const shop = await world.join('shop');
      const orders = await world.listen('orders');
      const messages = manyStreams(20, 50);
      const sending = shop.send(...messages);
      await orders.untilReceived(100);

      for (const member of [shop, orders]) networkOf(member).moveTo(url, 'silent');

      // What was on its way may just have been confirmed: what is sent now cannot be.
      const sendingOn = sending.then(() => shop.send(...messages));
      await expect(sendingOn).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      await sendStubbornly(shop, messages);
      expectOrder(await world.untilStored('orders', messages), messages);
    });

    it('a RabbitMQ node that is killed and started again under load loses no message and no order', async () => {
      await using world = new World(await rabbitmqSubject(url, { confirmSeconds: 3 }));
      const shop = await world.join('shop');
      await world.listen('orders');
      await world.listen('orders');
      const messages = manyStreams(10, 40);
      await sendStubbornly(shop, messages.slice(0, 100));
      // RabbitMQ 3.10 writes down minutes later that there is a new queue: see docs/transports/rabbitmq.md.
      await server.control('eval', '[dets:sync(Table) || Table <- dets:all()].');

      const restarted = server.kill().then(() => server.start());
      await sendStubbornly(shop, messages.slice(100, 250));
      await restarted;
      await sendStubbornly(shop, messages.slice(250));

      expectOrder(await world.untilStored('orders', messages), messages);
    });

    it('a queue that RabbitMQ has lost in a crash works again once somebody has deleted it', async () => {
      const subject = await rabbitmqSubject(url, { confirmSeconds: 2 });
      await using world = new World(subject);
      const shop = await world.join('shop');
      await world.listen('orders');
      await server.kill();
      await server.start(); // The queue has no leader, and channels that touch it get no answer.
      const messages = stream('orders', 5);
      await expect(shop.send(...messages)).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });

      await server.control('delete_queue', `${subject.prefix}.orders`);

      await sendStubbornly(shop, messages);
      const last = message('orders');
      await eventually(async () => {
        await shop.sendAll(last);
        await eventually(
          async () => expect(ids(await world.stored('orders'))).toContain(last.messageId),
          2_000,
        );
      }, 60_000);
    });
  });
});
