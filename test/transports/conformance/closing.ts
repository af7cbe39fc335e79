import { expect } from 'vitest';
import { expectOrder, ids, message, never, stream } from '../world.js';
import type { Trial } from './trial.js';

export function closing(trial: Trial): void {
  trial(
    'a stopped receiver gets no more deliveries, and can still acknowledge those it has',
    async (world) => {
      const shop = await world.join('shop');
      const stopped = await world.listen('orders', { stores: false });
      const [before, after] = [message('orders'), message('orders')];
      await shop.sendAll(before);
      await stopped.untilReceived(1);

      await stopped.receiver?.stop();
      await shop.sendAll(after);
      await stopped.deliveries[0]?.acknowledge();
      const other = await world.listen('orders', { stores: false });

      await other.untilReceived(1);
      await stopped.connection.close();
      const last = message('orders');
      await shop.sendAll(last);
      await other.untilReceived(2);
      expect(other.received).toEqual(ids([after, last]));
      expect(stopped.received).toEqual(ids([before]));
    },
    'deliveries',
  );

  trial(
    'the stream of an unacknowledged message waits for it after the receiver has stopped',
    async (world) => {
      const shop = await world.join('shop');
      const stopped = await world.listen('orders', { stores: false });
      const messages = stream('orders', 2);
      const independent = message('orders');
      await shop.sendAll(messages[0] as never);
      await stopped.untilReceived(1);
      await stopped.receiver?.stop();
      const other = await world.listen('orders', { stores: false });

      await shop.sendAll(messages[1] as never, independent);
      await other.untilReceived(1);
      expect(other.received).toEqual(ids([independent]));
      await stopped.deliveries[0]?.acknowledge();

      await other.untilReceived(2);
      expect(other.received).toEqual(ids([independent, messages[1] as never]));
    },
    { lacking: ['deliveries'], moves: ['stream'] },
  );

  trial(
    'what waits behind the unacknowledged messages of a stopped receiver goes to no other before they are stored',
    async (world) => {
      const shop = await world.join('shop');
      const stopped = await world.listen('orders', { prefetch: 5, stores: false });
      const messages = stream('orders', 25);
      await shop.sendAll(...messages);
      await stopped.untilReceived(world.handed(5));

      await stopped.receiver?.stop();
      await world.listen('orders', { prefetch: 5 });
      await world.whileOthersTalk();
      expect(ids(await world.stored('orders'))).toEqual([]);
      for (const delivery of stopped.deliveries) await stopped.store(delivery);

      expectOrder(await world.untilStored('orders', messages), messages);
      expect(stopped.received).toEqual(ids(messages.slice(0, world.handed(5))));
    },
    'deliveries',
  );

  trial(
    'what a stopped receiver leaves unacknowledged when it closes comes before what waits behind it',
    async (world) => {
      const shop = await world.join('shop');
      const stopped = await world.listen('orders', { prefetch: 5, stores: false });
      const messages = stream('orders', 25);
      await shop.sendAll(...messages);
      await stopped.untilReceived(world.handed(5));

      await stopped.receiver?.stop();
      const other = await world.listen('orders', { prefetch: 5 });
      await stopped.store(stopped.deliveries[0]);
      await stopped.connection.close();

      expectOrder(await world.untilStored('orders', messages), messages);
      expect(other.received).toEqual(ids(messages.slice(1)));
    },
    'deliveries',
  );

  trial(
    'acknowledging after close is not an error, and the message is delivered again',
    async (world) => {
      const shop = await world.join('shop');
      const closed = await world.listen('orders', { stores: false });
      const sent = message('orders');
      await shop.sendAll(sent);
      await closed.untilReceived(1);

      await closed.connection.close();
      await closed.deliveries[0]?.acknowledge();
      const other = await world.listen('orders', { stores: false });

      await other.untilReceived(1);
      expect(other.received).toEqual([sent.messageId]);
    },
    'deliveries',
  );

  trial('a receiver can be stopped twice, and after its connection was closed', async (world) => {
    const orders = await world.listen('orders');
    await orders.receiver?.stop();
    await orders.receiver?.stop();
    await orders.connection.close();
    await orders.receiver?.stop();
  });

  trial('a closed connection refuses with DISPOSED, and closing it again is fine', async (world) => {
    const { connection } = await world.join('orders');
    await connection.close();
    await connection.close();

    const disposed = { code: 'DISPOSED' };
    await expect(connection.send([message('orders')], never)).rejects.toMatchObject(disposed);
    await expect(connection.ready(never)).rejects.toMatchObject(disposed);
    const receiving = connection.receive({ addresses: ['orders'], prefetch: 1 }, () => {});
    await expect(receiving).rejects.toMatchObject(disposed);
  });
}
