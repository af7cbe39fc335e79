import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import { type Delivery, type InProcessTransport, inProcessTransport } from '../../src/transports/index.js';
import { eventually } from '../support/eventually.js';
import { describeTransport } from './conformance.js';
import type { TransportSubject } from './subject.js';
import { message, messageOf, never, stream, World } from './world.js';

/** It looks at none of this but the service's name. */
const host = (serviceName: string) => ({
  instance: { instanceId: randomUUID(), serviceName, hostName: 'host-1', processId: 1 },
  pool: { connect: () => Promise.reject(new Error('It needs no database.')) },
  schema: 'public',
  logger: silentLogger,
});

function subjectOf(transport: InProcessTransport): TransportSubject {
  return {
    join: async (service) => ({ connection: await transport.connect(host(service)) }),
    goAway: async () => transport.goAway(),
    comeBack: async () => transport.comeBack(),
    loseAnswerTo: async (send) => {
      transport.goAway({ afterMessages: 2 });
      await expect(send()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      transport.comeBack();
    },
    refused: (each) => ({ ...each, payload: 1n }),
    sendUnreadable: async (address, bytes) => transport.deliverUnreadable(address, bytes),
    [Symbol.asyncDispose]: async () => {},
  };
}

describeTransport('in-process', async () => subjectOf(inProcessTransport()));

describe('The in-process transport', () => {
  it('the in-process transport never delivers inside send', async () => {
    await using world = new World(subjectOf(inProcessTransport()));
    const orders = await world.listen('orders', { stores: false });

    await orders.sendAll(message('orders'));

    expect(orders.deliveries).toEqual([]);
    await orders.untilReceived(1);
  });

  it('the in-process transport shares no object between sender and receivers', async () => {
    await using world = new World(subjectOf(inProcessTransport()));
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
    await using world = new World(subjectOf(transport));
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
    await using world = new World(subjectOf(inProcessTransport()));
    const shop = await world.join('shop');
    await world.listen('orders', { prefetch: 50 });
    await world.listen('orders', { prefetch: 50 });
    const messages = [...stream('orders', 4_000), ...Array.from({ length: 4_000 }, () => message('orders'))];

    await shop.connection.send(messages, never);

    await eventually(async () => expect(await world.stored('orders')).toHaveLength(8_000));
  });
});
