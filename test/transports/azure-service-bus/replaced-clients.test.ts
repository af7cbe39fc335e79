import { ServiceBusClient } from '@azure/service-bus';
import { describe, expect, it, vi } from 'vitest';
import { azureServiceBusTransport } from '../../../src/azure-service-bus.js';
import { silentLogger } from '../../../src/logger.js';
import { ServiceBusStandIn } from '../../support/brokers/service-bus/service-bus.js';
import { ids, message, never, stream, World } from '../world.js';
import { azureSubject, hostOf } from './subject.js';

/** The client's own time-out is a minute, and begins again after each. */
const soonMs = 40_000;

describe.concurrent('Azure Service Bus: a client that no longer answers is replaced', () => {
  it('a sender whose connection fell silent rejects what is under way, and sends it over a new one', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    await world.listen('orders');
    const sender = await subject.join('shop');
    const messages = stream('orders', 6);
    await sender.connection.send(messages.slice(0, 3), never);

    sender.fallSilent('others work');
    const silent = performance.now();
    const sending = sender.connection.send(messages.slice(3), never);
    await expect(sending).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
    await sender.connection.ready(never);
    await sender.connection.send(messages.slice(3), never);

    expect(performance.now() - silent).toBeLessThan(soonMs);
    expect(ids(await world.untilStored('orders', messages))).toEqual(ids(messages));
    await sender.connection.close();
  });

  it('a receiver that only waits notices that its connection fell silent, and receives over a new one', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    const shop = await world.join('shop');
    const waiting = await subject.join('orders');
    const received: unknown[] = [];
    await waiting.connection.receive({ addresses: ['orders'], prefetch: 5 }, (delivery) => {
      received.push(delivery);
      void delivery.acknowledge();
    });

    waiting.fallSilent('others work');
    const silent = performance.now();
    await shop.sendAll(message('orders'));
    await world.eventually(() => expect(received).toHaveLength(1));

    expect(performance.now() - silent).toBeLessThan(soonMs);
    expect(waiting.states.map(({ receiving }) => receiving)).toEqual([false, true]);
    await waiting.connection.close();
  });

  it('what a silent connection delivered comes again in order, and acknowledging it late changes nothing', async () => {
    const subject = await azureSubject({ lockSeconds: 2 });
    await using world = new World(subject);
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 3, stores: false });
    const messages = stream('orders', 20);
    await shop.sendAll(...messages);
    await orders.untilReceived(3);

    (orders.instance as Awaited<ReturnType<typeof subject.join>>).fallSilent('others work');
    await orders.untilReceived(6);
    await orders.deliveries[0]?.acknowledge();

    expect(orders.received.slice(3)).toEqual(ids(messages.slice(0, 3)));
    expect(subject.standIn.namespace.subscription('whizbang', 'orders')?.messages).toHaveLength(20);
  });

  it('connections that close before they open do not hold up an instance for a minute', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    await world.listen('orders');
    const sender = await subject.join('shop');
    const messages = stream('orders', 6);
    await sender.connection.send(messages.slice(0, 3), never);

    sender.network.hangUpOn = 3;
    sender.network.cut();
    const cut = performance.now();
    const sending = sender.connection.send(messages.slice(3), never);
    await expect(sending).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
    await sender.connection.ready(never);
    await sender.connection.send(messages.slice(3), never);

    expect(sender.network.hangUpOn).toBe(0);
    expect(performance.now() - cut).toBeLessThan(soonMs);
    expect(ids(await world.untilStored('orders', messages))).toEqual(ids(messages));
    await sender.connection.close();
  });
});

// It changes the client of all: alone.
describe('Azure Service Bus: a client that fails by itself', () => {
  it('a fault of the client is logged once, and tried again like an outage', async () => {
    await using standIn = await ServiceBusStandIn.start();
    const errors: object[] = [];
    const logger = { ...silentLogger, error: (facts: object) => void errors.push(facts) };
    const { administrationUrl } = standIn;
    const fault = new TypeError('link.send is not a function');
    const faulty = vi.spyOn(ServiceBusClient.prototype, 'createSender').mockImplementation(() => {
      throw fault;
    });
    const transport = azureServiceBusTransport({
      connectionString: standIn.connectionString(),
      administrationUrl,
    });

    try {
      const connection = await transport.connect(hostOf('shop', [], logger));
      await expect(connection.send([message('orders')], never)).rejects.toMatchObject({
        code: 'TRANSPORT_UNAVAILABLE',
      });
      faulty.mockRestore();
      await connection.ready(never);
      await connection.send([message('orders')], never);
      await connection.close();
    } finally {
      faulty.mockRestore();
    }

    expect(errors).toEqual([{ error: fault, transport: 'azure-service-bus' }]);
  });
});
