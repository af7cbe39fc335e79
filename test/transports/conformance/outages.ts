import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { expectOrder, ids, interleaved, message, never, stream } from '../world.js';
import type { Trial } from './trial.js';

export function outages(trial: Trial): void {
  trial(
    'sending rejects while the transport is away, and nothing is lost or out of order afterwards',
    async (world) => {
      const shop = await world.join('shop');
      await world.listen('orders');
      const messages = interleaved([stream('orders', 6), stream('orders', 6)]);
      await shop.sendAll(...messages.slice(0, 4));

      await world.subject.goAway();
      const sending = shop.send(...messages.slice(4));
      await expect(sending).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      await world.subject.comeBack();
      await shop.connection.ready(never);
      await shop.sendAll(...messages.slice(4));

      expectOrder(await world.untilStored('orders', messages), messages);
    },
  );

  trial('a transport is ready when it can send, and not before', async (world) => {
    const shop = await world.join('shop');
    await shop.connection.ready(never);
    await world.subject.goAway();

    let isReady = false;
    const ready = shop.connection.ready(never).then(() => {
      isReady = true;
    });
    await expect(shop.send(message('orders'))).rejects.toThrow();
    expect(isReady).toBe(false);
    await world.subject.comeBack();

    await ready;
    await shop.sendAll(message('orders'));
  });

  trial(
    'an instance that starts while the transport is away sends and receives when it is back',
    async (world) => {
      await world.subject.goAway();
      const [shop, orders] = [await world.join('shop'), await world.join('orders')];
      await orders.listen();
      const sent = message('orders');
      await expect(shop.send(sent)).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE', retryable: true });

      await world.subject.comeBack();
      await orders.connection.ready(never);
      await shop.connection.ready(never);
      await world.eventually(async () => {
        await shop.sendAll(sent);
        expect(ids(await world.stored('orders'))).toEqual([sent.messageId]);
      });
    },
    'deliveries',
  );

  trial('waiting for the transport ends when the signal aborts', async (world) => {
    const shop = await world.join('shop');
    await world.subject.goAway();
    const stopping = new AbortController();

    const ready = shop.connection.ready(stopping.signal);
    const reason = new Error('stopping');
    stopping.abort(reason);

    await expect(ready).rejects.toBe(reason);
  });

  trial('waiting for the transport ends when the connection is closed', async (world) => {
    const shop = await world.join('shop');
    await world.subject.goAway();

    const ready = shop.connection.ready(never);
    const ended = expect(ready).rejects.toMatchObject({ code: 'DISPOSED' });
    await shop.connection.close();

    await ended;
  });

  trial('sending again after a lost answer loses and doubles nothing', async (world) => {
    const shop = await world.join('shop');
    await world.listen('orders');
    const messages = interleaved([stream('orders', 3), stream('orders', 3)]);
    await shop.instance.hold?.(messages);

    await world.subject.loseAnswerTo(() => shop.connection.send(messages, never));
    await shop.connection.ready(never);
    await shop.connection.send(messages, never);

    expectOrder(await world.untilStored('orders', messages), messages);
  });

  trial(
    'deliveries go on by themselves after an outage, with what was not acknowledged',
    async (world) => {
      const shop = await world.join('shop');
      const orders = await world.listen('orders', { prefetch: 5, stores: false });
      const messages = stream('orders', 25);
      await shop.sendAll(...messages);
      const handed = world.handed(5);
      await orders.untilReceived(handed);

      await world.subject.goAway();
      await orders.deliveries[0]?.acknowledge(); // too late to get through, and no error
      await world.subject.comeBack();
      await shop.connection.ready(never);

      for (let next = handed; (await world.stored('orders')).length < messages.length; next++) {
        await orders.untilReceived(next + 1);
        await orders.store(orders.deliveries[next]);
      }
      expectOrder(await world.stored('orders'), messages);
    },
    'deliveries',
  );

  trial(
    'a connection tells that it can neither send nor receive, and when it can again',
    async (world) => {
      const orders = await world.listen('orders');
      await orders.connection.ready(never);
      const state = () => orders.instance.states?.at(-1) ?? { sending: true, receiving: true };
      await world.eventually(() => expect(state()).toMatchObject({ sending: true, receiving: true }));

      await world.subject.goAway();
      const unknown = message('orders');
      await expect(orders.send(unknown)).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      await world.eventually(() => expect(state()).toMatchObject({ sending: false, receiving: false }));
      await world.subject.comeBack();

      await orders.connection.ready(never);
      await world.eventually(() => expect(state()).toMatchObject({ sending: true, receiving: true }));
      const sent = message('orders');
      await orders.sendAll(unknown, sent);
      await world.untilStored('orders', [unknown, sent]);
    },
    'states',
  );

  trial(
    'a connection that has closed tells of no more outages',
    async (world) => {
      const orders = await world.listen('orders');
      await orders.connection.close();
      const told = orders.instance.states?.length;

      await world.subject.goAway();
      await world.subject.comeBack();
      await world.whileOthersTalk();

      expect(orders.instance.states).toHaveLength(told as number);
    },
    { lacking: ['states', 'deliveries'] },
  );

  trial(
    'an outage that is longer than the locks of the broker breaks no order',
    async (world) => {
      const shop = await world.join('shop');
      const orders = await world.listen('orders', { prefetch: 5, stores: false });
      const messages = stream('orders', 25);
      await shop.sendAll(...messages);
      await orders.untilReceived(world.handed(5));
      await orders.store(orders.deliveries[0]);

      await world.subject.goAway();
      await pause(2 * (world.subject.locksMs as number));
      await orders.connection.close();
      await world.subject.comeBack();
      await world.listen('orders', { prefetch: 5 });

      expectOrder(await world.untilStored('orders', messages), messages);
    },
    { lacking: ['deliveries', 'locks'] },
  );

  trial(
    'a delivery that takes longer than the locks of the broker stays with its instance',
    async (world) => {
      const shop = await world.join('shop');
      const slow = await world.listen('orders', { prefetch: 5, stores: false });
      const messages = stream('orders', 25);
      await shop.sendAll(...messages);
      const handed = world.handed(5);
      await slow.untilReceived(handed);
      const other = await world.listen('orders', { prefetch: 5, stores: false });

      await pause(3 * (world.subject.locksMs as number));

      expect(slow.received).toEqual(ids(messages.slice(0, handed)));
      expect(other.received).toEqual([]);
      // Between two messages, of which none is unacknowledged, the stream may go to either.
      await other.connection.close();
      for (let next = 0; next < messages.length; next++) {
        await slow.untilReceived(next + 1);
        await slow.store(slow.deliveries[next]);
      }
      expectOrder(await world.stored('orders'), messages);
    },
    { lacking: ['deliveries', 'locks'] },
  );
}
