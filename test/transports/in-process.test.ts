import { describe, expect, it } from 'vitest';
import { type Delivery, inProcessTransport } from '../../src/transports/index.js';
import { eventually } from '../support/eventually.js';
import { describeTransport } from './conformance.js';
import { withFreshNames } from './fresh-names.js';
import { inProcessLacks, inProcessSubject } from './in-process-subject.js';
import { message, messageOf, never, stream, World } from './world.js';

describeTransport(
  'in-process',
  async () => withFreshNames(inProcessSubject(inProcessTransport())),
  inProcessLacks,
);

describe('The in-process transport', () => {
  it('the in-process transport never delivers inside send', async () => {
    await using world = new World(inProcessSubject(inProcessTransport()));
    const orders = await world.listen('orders', { stores: false });

    await orders.sendAll(message('orders'));

    expect(orders.deliveries).toEqual([]);
    await orders.untilReceived(1);
  });

  it('the in-process transport shares no object between sender and receivers', async () => {
    await using world = new World(inProcessSubject(inProcessTransport()));
    const payload = { lines: [{ count: 1 }] };
    const shop = await world.join('shop');
    const receivers = [
      await world.listen('orders', { listensTo: ['OrderPlaced'], stores: false }),
      await world.listen('billing', { listensTo: ['OrderPlaced'], stores: false }),
    ];

    await shop.sendAll(message('OrderPlaced', { payload }));
    payload.lines.length = 0;
    for (const receiver of receivers) {
      await receiver.untilReceived(1);
      const [delivery] = receiver.deliveries as [Delivery];
      const received = messageOf(delivery).payload as typeof payload;
      expect(received).toEqual({ lines: [{ count: 1 }] });
      received.lines.length = 0;
    }
  });

  it('the in-process transport counts what waits and what is unacknowledged', async () => {
    const transport = inProcessTransport();
    await using world = new World(inProcessSubject(transport));
    const orders = await world.listen('orders', { prefetch: 2, stores: false });
    await world.listen('billing', { listensTo: ['orders'] });

    await orders.send(...stream('orders', 3));
    expect([transport.pending(), transport.pending('orders')]).toEqual([6, 3]);
    await orders.untilReceived(2);
    await orders.deliveries[0]?.acknowledge();
    await eventually(() => expect(transport.pending('billing')).toBe(0));

    expect([transport.pending('orders'), transport.pending('unknown')]).toEqual([2, 0]);
  });

  it('the in-process transport delivers a deep stream beside many others', async () => {
    await using world = new World(inProcessSubject(inProcessTransport()));
    const shop = await world.join('shop');
    await world.listen('orders', { prefetch: 50 });
    await world.listen('orders', { prefetch: 50 });
    const messages = [...stream('orders', 4_000), ...Array.from({ length: 4_000 }, () => message('orders'))];

    await shop.connection.send(messages, never);

    await eventually(async () => expect(await world.stored('orders')).toHaveLength(8_000));
  });
});
