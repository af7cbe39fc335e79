import { expect } from 'vitest';
import type { TransportMessage } from '../../../src/transports/index.js';
import { ids, message } from '../world.js';
import type { Trial } from './trial.js';

export function routing(trial: Trial): void {
  trial('an event reaches every service that listens to its topic, once per service', async (world) => {
    const shop = await world.join('shop');
    for (const service of ['orders', 'orders', 'billing', 'billing']) {
      await world.listen(service, { listensTo: [service, 'OrderPlaced'] });
    }
    const events = Array.from({ length: 10 }, () => message('OrderPlaced'));

    await shop.sendAll(...events);

    await world.untilStored('orders', events);
    await world.untilStored('billing', events);
  });

  trial('a command reaches the service it is addressed to and no other', async (world) => {
    const shop = await world.join('shop');
    await world.listen('orders');
    await world.listen('billing');
    const [command, other] = [message('orders'), message('billing')];

    await shop.sendAll(command, other);

    await world.untilStored('orders', [command]);
    await world.untilStored('billing', [other]);
  });

  trial('a service can send to itself', async (world) => {
    const orders = await world.listen('orders', { listensTo: ['orders', 'OrderPlaced'] });
    const both = [message('orders'), message('OrderPlaced')];

    await orders.sendAll(...both);

    await world.untilStored('orders', both);
  });

  trial('a message to an address that nobody listens to is sent, and gone', async (world) => {
    const shop = await world.join('shop');
    await shop.sendAll(message('nobody'));

    await world.listen('orders', { listensTo: ['orders', 'nobody'] });
    const later = message('nobody');
    await shop.sendAll(later);

    await world.untilStored('orders', [later]);
  });

  trial(
    'a command that nobody listens to is refused where the transport knows its receivers',
    async (world) => {
      const shop = await world.join('shop');
      const command = message('nobody', { metadata: { kind: 'command' } });

      const [outcome] = await shop.send(command);

      if (world.traits.knowsReceivers) {
        expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'NO_RECEIVER' } });
      } else expect(outcome).toEqual({ kind: 'sent' });
    },
  );

  trial('a service that is not running gets its messages once it runs', async (world) => {
    const shop = await world.join('shop');
    const orders = await world.listen('orders');
    await orders.connection.close();
    const missed = [message('orders'), message('orders')];

    await shop.sendAll(...missed);
    await world.listen('orders');

    await world.untilStored('orders', missed);
  });

  trial('sending no messages returns no outcomes', async (world) => {
    const shop = await world.join('shop');
    expect(await shop.send()).toEqual([]);
  });

  trial(
    'the instances of a service share the work',
    async (world) => {
      const shop = await world.join('shop');
      const instances = [
        await world.listen('orders', { prefetch: 5 }),
        await world.listen('orders', { prefetch: 5 }),
      ];
      const messages = Array.from({ length: 100 }, () => message('orders'));

      await shop.sendAll(...messages);

      await world.untilStored('orders', messages);
      for (const { deliveries } of instances) expect(deliveries.length).toBeGreaterThan(0);
      expect(instances.flatMap(({ received }) => received).toSorted()).toEqual(ids(messages).toSorted());
    },
    { lacking: ['deliveries'], moves: ['stream'] },
  );

  trial(
    'the instances of a service share the shards after a while',
    async (world) => {
      const shop = await world.join('shop');
      const instances = [
        await world.listen('orders', { prefetch: 5 }),
        await world.listen('orders', { prefetch: 5 }),
      ];
      const messages: TransportMessage[] = [];

      await world.eventually(async () => {
        const more = Array.from({ length: 50 }, () => message('orders'));
        messages.push(...more);
        await shop.sendAll(...more);
        await world.untilStored('orders', messages);
        for (const { deliveries } of instances) expect(deliveries.length).toBeGreaterThan(0);
      });
    },
    { lacking: ['deliveries'], moves: ['shard'] },
  );

  trial(
    'one instance of a service has all of its messages, and the next has them when that one has closed',
    async (world) => {
      const shop = await world.join('shop');
      const instances = [
        await world.listen('orders', { prefetch: 5, stores: false }),
        await world.listen('orders', { prefetch: 5, stores: false }),
      ];
      const messages = Array.from({ length: 5 }, () => message('orders'));
      const received = () => instances.flatMap((each) => each.received);
      await shop.sendAll(...messages);
      await world.eventually(() => expect(received().toSorted()).toEqual(ids(messages).toSorted()));

      const [active, passive] = instances.toSorted((a, b) => b.deliveries.length - a.deliveries.length);
      expect(passive?.deliveries).toEqual([]);
      await active?.connection.close();

      await passive?.untilReceived(5);
      expect(passive?.received.toSorted()).toEqual(ids(messages).toSorted());
    },
    { lacking: ['deliveries'], moves: ['service'] },
  );
}
