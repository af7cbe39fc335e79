import { expect } from 'vitest';
import { expectOrder, ids, message, stream } from '../world.js';
import type { Needs, Trial } from './trial.js';

export function acknowledging(anyTrial: Trial): void {
  const trial = (name: string, body: Parameters<Trial>[1], needs: Needs = {}) =>
    anyTrial(name, body, { lacking: ['deliveries'], ...needs });

  trial(
    'messages that were not acknowledged come again before those that waited behind them',
    async (world) => {
      const shop = await world.join('shop');
      const first = await world.listen('orders', { prefetch: 5, stores: false });
      const messages = stream('orders', 25);
      await shop.sendAll(...messages);
      await first.untilReceived(world.handed(5));

      await first.store(first.deliveries[0]);
      await first.untilReceived(world.handed(5) + 1);
      await first.connection.close();
      const second = await world.listen('orders', { prefetch: 5 });

      expectOrder(await world.untilStored('orders', messages), messages);
      expect(second.received).toEqual(ids(messages.slice(1)));
    },
  );

  trial(
    'an instance at its prefetch is sent no more, and another gets the rest',
    async (world) => {
      const shop = await world.join('shop');
      const slow = await world.listen('orders', { prefetch: 5, stores: false });
      const messages = Array.from({ length: 20 }, () => message('orders'));
      await shop.sendAll(...messages);
      await slow.untilReceived(5);

      // All the rest going to another one shows that there was nothing on its way to the first.
      const other = await world.listen('orders', { prefetch: 20, stores: false });
      await other.untilReceived(15);

      expect(slow.deliveries).toHaveLength(5);
      expect([...slow.received, ...other.received].toSorted()).toEqual(ids(messages).toSorted());
    },
    { moves: ['stream'] },
  );

  trial('no more messages than the prefetch are unacknowledged at one time', async (world) => {
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 5 });
    const messages = Array.from({ length: 100 }, () => message('orders'));

    await shop.sendAll(...messages);

    await world.untilStored('orders', messages);
    expect(orders.mostUnacknowledged).toBeLessThanOrEqual(5);
  });

  trial('each acknowledgement makes room for one more delivery', async (world) => {
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 2, stores: false });
    const messages = stream('orders', 6);
    await shop.sendAll(...messages);

    for (let acknowledged = 0; acknowledged < 6; acknowledged++) {
      const handed = Math.min(acknowledged + world.handed(2), 6);
      await orders.untilReceived(handed);
      expect(orders.deliveries).toHaveLength(handed);
      await orders.deliveries[acknowledged]?.acknowledge();
    }

    expect(orders.received).toEqual(ids(messages));
  });

  trial('a rejected message comes again before those that waited behind it in its stream', async (world) => {
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 5, stores: false });
    const messages = stream('orders', 25);
    await shop.sendAll(...messages);
    await orders.untilReceived(world.handed(5));

    await orders.store(orders.deliveries[0]);
    const handed = world.handed(5) + 1;
    await orders.untilReceived(handed);
    for (const delivery of orders.deliveries.slice(1, handed)) await delivery.reject();

    // Whatever is handed out again is stored in its turn, from the rejected one on.
    for (let next = handed; ; next++) {
      const stored = await world.stored('orders');
      if (stored.length === messages.length) break;
      await orders.untilReceived(next + 1);
      await orders.store(orders.deliveries[next]);
    }
    expectOrder(await world.stored('orders'), messages);
  });

  trial(
    'a message that is rejected 50 times comes again each time, before what waits behind it',
    async (world) => {
      const shop = await world.join('shop');
      const orders = await world.listen('orders', { prefetch: 1, stores: false });
      const messages = stream('orders', 4);
      await shop.sendAll(...messages);

      for (let rejected = 0; rejected < 50; rejected++) {
        await orders.untilReceived(rejected + 1);
        await orders.deliveries[rejected]?.reject();
      }
      for (let stored = 0; stored < messages.length; stored++) {
        await orders.untilReceived(50 + stored + 1);
        await orders.store(orders.deliveries[50 + stored]);
      }

      const again = messages.slice(0, 1).flatMap((first) => Array.from({ length: 50 }, () => first));
      expect(orders.received).toEqual(ids([...again, ...messages]));
    },
  );

  trial(
    'a rejected message holds up no other stream',
    async (world) => {
      const shop = await world.join('shop');
      const orders = await world.listen('orders', { stores: false });
      const [rejected, other] = [message('orders'), message('orders')];
      await shop.sendAll(rejected, other);
      await orders.untilReceived(2);
      await orders.deliveries[orders.received.indexOf(other.messageId)]?.acknowledge();

      await orders.deliveries[orders.received.indexOf(rejected.messageId)]?.reject();

      await world.eventually(() => expect(orders.received.slice(2)).toEqual([rejected.messageId]));
    },
    { moves: ['stream'] },
  );

  trial(
    'a rejected message takes along no more than what is unacknowledged, and others go on behind it',
    async (world) => {
      const shop = await world.join('shop');
      const orders = await world.listen('orders', { stores: false });
      const [rejected, acknowledged, unacknowledged] = [
        message('orders'),
        message('orders'),
        message('orders'),
      ];
      await shop.sendAll(rejected, acknowledged, unacknowledged);
      await orders.untilReceived(3);
      await orders.deliveries[orders.received.indexOf(acknowledged.messageId)]?.acknowledge();

      await orders.deliveries[orders.received.indexOf(rejected.messageId)]?.reject();
      const later = message('orders');
      await shop.sendAll(later);

      await world.eventually(() => {
        const again = orders.received.slice(3);
        expect(again).toContain(rejected.messageId);
        expect(again).toContain(later.messageId);
        expect(again).not.toContain(acknowledged.messageId);
      });
    },
    { moves: ['shard', 'service'] },
  );

  trial('acknowledging a delivery twice, or after rejecting it, does nothing more', async (world) => {
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 1, stores: false });
    const messages = [message('orders'), message('orders')] as const;
    await shop.sendAll(...messages);
    await orders.untilReceived(1);

    await orders.deliveries[0]?.reject();
    await orders.deliveries[0]?.acknowledge();
    await orders.untilReceived(2);
    await orders.deliveries[1]?.acknowledge();
    await orders.deliveries[1]?.acknowledge();
    await orders.untilReceived(3);

    expect(new Set(orders.received.slice(1))).toEqual(new Set(ids(messages)));
  });
}
