import { expect } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { ids, message, stream } from '../world.js';
import type { Trial } from './trial.js';

export function acknowledging(anyTrial: Trial): void {
  const trial = (name: string, body: Parameters<Trial>[1]) => anyTrial(name, body, 'deliveries');

  trial('messages that were not acknowledged are delivered again, in order, and no others', async (world) => {
    const shop = await world.join('shop');
    const first = await world.listen('orders', { stores: false });
    const messages = stream('orders', 4);
    await shop.sendAll(...messages);
    await first.untilReceived(4);

    await first.deliveries[0]?.acknowledge();
    await first.connection.close();
    const second = await world.listen('orders', { stores: false });

    await second.untilReceived(3);
    const later = message('orders', { streamId: messages[0]?.streamId ?? null });
    await shop.sendAll(later);
    await eventually(() => expect(second.received).toEqual(ids([...messages.slice(1), later])));
  });

  trial('no more messages than the prefetch are unacknowledged at one time', async (world) => {
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
  });

  trial('each acknowledgement makes room for one more delivery', async (world) => {
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 2, stores: false });
    const messages = stream('orders', 6);
    await shop.sendAll(...messages);

    for (let acknowledged = 0; acknowledged < 6; acknowledged++) {
      await orders.untilReceived(Math.min(acknowledged + 2, 6));
      expect(orders.deliveries).toHaveLength(Math.min(acknowledged + 2, 6));
      await orders.deliveries[acknowledged]?.acknowledge();
    }

    expect(orders.received).toEqual(ids(messages));
  });

  trial('a rejected message is delivered again, and then what followed it in its stream', async (world) => {
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { stores: false });
    const messages = stream('orders', 3);
    await shop.sendAll(...messages);
    await orders.untilReceived(3);

    await orders.deliveries[0]?.acknowledge();
    await orders.deliveries[1]?.reject();
    await orders.deliveries[2]?.reject();

    await orders.untilReceived(5);
    const again = orders.received.slice(3);
    expect(again.filter((id, i) => again.indexOf(id) === i)).toEqual(ids(messages.slice(1)));
  });

  trial('a rejected message holds up no other stream', async (world) => {
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { stores: false });
    const [rejected, other] = [message('orders'), message('orders')];
    await shop.sendAll(rejected, other);
    await orders.untilReceived(2);
    await orders.deliveries[orders.received.indexOf(other.messageId)]?.acknowledge();

    await orders.deliveries[orders.received.indexOf(rejected.messageId)]?.reject();

    await eventually(() => expect(orders.received.slice(2)).toEqual([rejected.messageId]));
  });

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
