// From one transport to another with messages in both: what docs/guide/transports.md says about moving.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import {
  combine,
  inProcessTransport,
  type QueueFacts,
  type Transport,
  type TransportConnection,
  type TransportMessage,
} from '../../src/transports/index.js';
import { eventually } from '../support/eventually.js';
import { inProcessHost, inProcessSubject } from './in-process-subject.js';
import { expectOrder, ids, interleaved, message, never, stream, World } from './world.js';
import { changed } from './wrong-adapters/wrapping.js';

/** Services over two hubs, each with the transport that is right for it at this moment. */
class Move {
  readonly old = inProcessTransport();
  readonly new = inProcessTransport();
  readonly both = combine(this.old, this.new);
  readonly world = new World({ ...inProcessSubject(this.old), join: (service) => this.#join(service) });
  #transport: Transport = this.old;

  over(transport: Transport): World {
    this.#transport = transport;
    return this.world;
  }

  async #join(service: string) {
    return { connection: await this.#transport.connect(inProcessHost(service)) };
  }
}

describe('Moving to another transport', () => {
  it('an event arrives once and in order while one of two transports goes away and comes back', async () => {
    for (const away of ['old', 'new'] as const) {
      const move = new Move();
      await using world = move.over(move.both);
      const shop = await world.join('shop');
      await world.listen('orders');
      await world.listen('orders');
      const messages = interleaved(Array.from({ length: 5 }, () => stream('orders', 12)));

      await shop.sendAll(...messages.slice(0, 20));
      move[away].goAway({ afterMessages: 7 });
      const sending = shop.send(...messages.slice(20, 40));
      await expect(sending).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      const ready = shop.connection.ready(never);
      move[away].comeBack();
      await ready;
      await shop.sendAll(...messages.slice(20, 40));
      await shop.sendAll(...messages.slice(40));

      expectOrder(await world.untilStored('orders', messages), messages);
      await eventually(() => expect([move.old.pending(), move.new.pending()]).toEqual([0, 0]));
    }
  });

  it('a message of the newer transport waits for the earlier ones that are still at the older', async () => {
    const move = new Move();
    await using world = move.over(move.old);
    const before = await world.join('shop');
    await (await world.listen('orders')).connection.close();
    const messages = stream('orders', 60);
    await before.sendAll(...messages.slice(0, 40));

    move.over(move.both);
    const orders = await world.listen('orders', { prefetch: 3, stores: false });
    const after = await world.join('shop');
    await after.sendAll(...messages.slice(40));

    // Slower than any transport: what overtakes has the time to.
    for (let next = 0; (await world.stored('orders')).length < messages.length; next++) {
      await orders.untilReceived(next + 1);
      await orders.store(orders.deliveries[next]);
    }
    expectOrder(await world.stored('orders'), messages);
  });

  it('a rejected message of the newer transport comes again before what was held behind it', async () => {
    const move = new Move();
    await using world = move.over(move.both);
    const orders = await world.listen('orders', { prefetch: 5, stores: false });
    move.over(move.new);
    const shop = await world.join('shop');
    const messages = stream('orders', 25);
    await shop.sendAll(...messages);
    await orders.untilReceived(1);

    await orders.deliveries[0]?.reject();
    const rejected = orders.deliveries.length;

    for (let next = rejected; (await world.stored('orders')).length < messages.length; next++) {
      await orders.untilReceived(next + 1);
      await orders.store(orders.deliveries[next]);
    }
    expectOrder(await world.stored('orders'), messages);
  });

  it('a newer transport hands out nothing before the older one is subscribed', async () => {
    const [older, newer] = [inProcessTransport(), inProcessTransport()];
    let subscribe = () => {};
    const isAsked = new Promise<void>((resolve) => {
      subscribe = resolve;
    });
    // As a broker that counts only the queues that it has subscribed to, and takes its time.
    let isSubscribed = false;
    const slow = changed(older, (inner) => ({
      receive: async (...args) => {
        await isAsked;
        isSubscribed = true;
        return inner.receive(...args);
      },
      inspect: async () => (isSubscribed ? ((await inner.inspect?.()) ?? []) : []),
    }));
    const orders = { addresses: ['orders'], prefetch: 10 };
    const before = await older.connect(inProcessHost('orders'));
    await before.receive(orders, () => {});
    await before.close();
    const [first, second] = stream('orders', 2) as [TransportMessage, TransportMessage];
    const shop = await older.connect(inProcessHost('shop'));
    await shop.send([first], never);
    const newShop = await newer.connect(inProcessHost('shop'));

    const connection = await combine(slow, newer).connect(inProcessHost('orders'));
    const received: string[] = [];
    const receiving = connection.receive(orders, (delivery) => {
      received.push((delivery.content as TransportMessage).messageId);
      void delivery.acknowledge();
    });
    await newShop.send([second], never);
    await eventually(async () => expect(newer.pending('orders')).toBe(1));
    await pause(200); // several looks
    expect(received).toEqual([]);
    subscribe();
    await receiving;

    await eventually(() => expect(received).toEqual(ids([first, second])));
    for (const each of [connection, shop, newShop]) await each.close();
  });

  it.each([
    ['has no inspect', { inspect: undefined }, ['depth', 'unacknowledged']],
    ['does not tell the depth', { depth: null, unacknowledged: 0 }, ['depth']],
    ['does not tell what is unacknowledged', { depth: 0, unacknowledged: null }, ['unacknowledged']],
  ])(
    'a warning tells once that order cannot be kept when an older transport %s',
    async (_, facts, untold) => {
      const [older, newer] = [inProcessTransport(), inProcessTransport()];
      const queue = { name: 'orders', consumers: null, oldestSeconds: null, ...facts };
      const inspect = 'inspect' in facts ? undefined : async () => [queue as QueueFacts];
      const untelling = changed(older, () => ({ inspect }) as Partial<TransportConnection>);
      const warned: unknown[] = [];
      const logger = { ...silentLogger, warn: (told: object) => void warned.push(told) };
      const connection = await combine(untelling, newer).connect({ ...inProcessHost('orders'), logger });
      const received: string[] = [];
      await connection.receive({ addresses: ['orders'], prefetch: 10 }, (delivery) => {
        received.push((delivery.content as TransportMessage).messageId);
        void delivery.acknowledge();
      });
      const shop = await newer.connect(inProcessHost('shop'));
      for (const each of stream('orders', 3)) {
        await shop.send([each], never);
        await eventually(() => expect(received).toContain(each.messageId));
      }

      expect(warned).toEqual([{ transport: untelling.name, untold }]);
      await shop.close();
      await connection.close();
    },
  );

  it('a receiver that stops gives back what it held, and a connection that closes leaves nothing running', async () => {
    const move = new Move();
    await using world = move.over(move.both);
    const first = await world.listen('orders', { stores: false });
    const shop = await world.join('shop');
    const sent = message('orders');
    await shop.sendAll(sent);
    await first.untilReceived(1); // by the older: the newer one's copy is held until that is stored

    await first.receiver?.stop();
    const second = await world.listen('orders');
    await first.connection.close();

    await world.untilStored('orders', [sent]);
    await eventually(() => expect([move.old.pending(), move.new.pending()]).toEqual([0, 0]));
    expect(ids([sent])).toEqual([...new Set(second.received)]);
  });

  it('services move from one transport to another step by step under load, with order kept', async () => {
    const move = new Move();
    await using world = move.over(move.old);
    const sent: ReturnType<typeof stream> = [];
    const streams = Array.from({ length: 10 }, () => stream('orders', 80));
    const load = interleaved(streams);
    const sendSome = async (sender: Awaited<ReturnType<World['join']>>) => {
      for (let i = 0; i < 3; i++) {
        const some = load.splice(0, 25);
        sent.push(...some);
        await sender.sendAll(...some);
      }
    };
    /** One more instance on this transport, and then one less on the last: a rolling deployment. */
    const instances = {
      shop: await world.join('shop'),
      orders: await world.listen('orders', { prefetch: 5 }),
    };
    const deploy = async (service: 'shop' | 'orders', transport: Transport) => {
      move.over(transport);
      const next =
        service === 'shop' ? await world.join('shop') : await world.listen('orders', { prefetch: 5 });
      const last = instances[service];
      instances[service] = next;
      if (service === 'shop') await sendSome(next);
      else await sendSome(instances.shop);
      await last.connection.close();
      await sendSome(instances.shop);
    };

    await sendSome(instances.shop);
    await deploy('orders', move.both);
    await deploy('shop', move.both);
    // Every service is on both. Before the old one is left, it has nothing that the new one has not.
    await eventually(() => expect(move.old.pending('orders')).toBe(0));
    await deploy('orders', move.new);
    await deploy('shop', move.new);

    expect(sent).toHaveLength(27 * 25);
    expectOrder(await world.untilStored('orders', sent), sent);
  });
});
