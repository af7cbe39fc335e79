import { expect } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { expectOrder, interleaved, message, never, stream } from '../world.js';
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

  trial('connecting and subscribing fail while the transport is away', async (world) => {
    const orders = await world.join('orders');
    await world.subject.goAway();

    const unavailable = { code: 'TRANSPORT_UNAVAILABLE', retryable: true };
    await expect(world.join('shop')).rejects.toMatchObject(unavailable);
    await expect(orders.listen()).rejects.toMatchObject(unavailable);
  });

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
      const orders = await world.listen('orders', { stores: false });
      const messages = stream('orders', 3);
      await shop.sendAll(...messages);
      await orders.untilReceived(3);

      await world.subject.goAway();
      await orders.deliveries[0]?.acknowledge(); // too late to get through, and no error
      await world.subject.comeBack();
      await shop.connection.ready(never);

      await eventually(() => {
        const again = orders.received.slice(3);
        expect(again.slice(-2)).toEqual(messages.slice(1).map(({ messageId }) => messageId));
      });
    },
    'deliveries',
  );
}
