import { setTimeout as pause } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FloorWriter } from '../../src/transports/nats/floor-writer.js';
import { readFloor, trim, type WrittenFloor } from '../../src/transports/nats/floors.js';
import { NatsNames } from '../../src/transports/nats/names.js';
import { withBroker } from '../support/brokers/broker.js';
import { nats } from '../support/brokers/nats.js';
import { natsIsInstalled, startNatsServer } from '../support/brokers/nats-server.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type NatsSubject, natsSubject } from './nats-services.js';
import { createServices } from './postgres-services.js';
import { expectOrder, ids, interleaved, message, never, stream, World } from './world.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createServices();
});
afterAll(() => db.drop());

const manyStreams = (count: number, length: number) =>
  interleaved(Array.from({ length: count }, () => stream('orders', length)));

/** How many messages to `orders` are in the stream. */
const keptBy = async ({ nc, prefix }: NatsSubject) => {
  const subject = `${prefix}.orders.0`;
  const { streams } = await jetstreamManager(nc);
  return (await streams.info(prefix, { subjects_filter: subject })).state.subjects?.[subject] ?? 0;
};

await withBroker(nats, (server) => {
  describe('The NATS transport when its receiver changes', () => {
    it('the next instance over NATS begins with what a dead one had, though newer messages wait', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const shop = await world.join('shop');
      const dying = await world.listen('orders', { prefetch: 10, stores: false });
      const messages = stream('orders', 30);
      await shop.sendAll(...messages);
      await dying.untilReceived(10);
      for (const delivery of dying.deliveries.slice(0, 4)) await delivery.acknowledge();
      await dying.untilReceived(14);
      await pause(200); // its floor is written

      await dying.instance.crash?.();
      const next = await world.listen('orders', { prefetch: 100, stores: false });

      await next.untilReceived(26);
      expect(next.received).toEqual(ids(messages.slice(4)));
      expect(dying.received).toEqual(ids(messages.slice(0, 14)));
    });

    it('an instance over NATS that stalls for longer than its lease delivers nothing when it wakes up', async () => {
      const subject = await natsSubject(server, db, { leaseSeconds: 1 });
      await using world = new World(subject);
      const shop = await world.join('shop');
      const stalled = await world.listen('orders', { prefetch: 5, stores: false });
      const messages = stream('orders', 20);
      await shop.sendAll(...messages.slice(0, 5));
      await stalled.untilReceived(5);

      // Its database does not hear from it, as when the process is stopped; NATS still sends.
      (stalled.instance as unknown as { setDatabase(isThere: boolean): void }).setDatabase(false);
      const next = await world.listen('orders', { prefetch: 50 });
      await next.untilReceived(5);
      await Promise.all(stalled.deliveries.map((delivery) => delivery.acknowledge()));
      await shop.sendAll(...messages.slice(5));

      expectOrder(await world.untilStored('orders', messages), messages);
      expect(stalled.received).toEqual(ids(messages.slice(0, 5)));
    });

    it('an instance over NATS that writes its floor late does not put back the one of its successor', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const shop = await world.join('shop');
      await (await world.listen('orders')).connection.close();
      const { nc, prefix } = subject;
      const client = { nc, js: jetstream(nc), jsm: await jetstreamManager(nc) } as never;
      const place = { client, names: new NatsNames(prefix, 1), service: 'orders', shard: 0 };
      const written = (await readFloor(place)) as WrittenFloor;
      const errors: Error[] = [];
      const late = new FloorWriter({
        ...place,
        written,
        current: () => ({ ...written, floor: written.floor + 2 }),
        onError: (error) => errors.push(error),
      });
      const messages = stream('orders', 10);
      await shop.sendAll(...messages);
      const successor = await world.listen('orders');
      await world.untilStored('orders', messages);
      await successor.connection.close();
      const floor = (await readFloor(place)) as WrittenFloor;
      expect(floor.floor).toBeGreaterThan(written.floor + 2);

      late.moved(true);
      await eventually(() => expect(errors).not.toEqual([]));
      await late.close();

      expect(await readFloor(place)).toEqual(floor);
      const last = await world.listen('orders');
      const next = message('orders');
      await shop.sendAll(next);
      await last.untilReceived(1);
      expect(last.received).toEqual([next.messageId]);
    });

    it('a database of the receiver that is away for longer than the lease loses and reorders nothing over NATS', async () => {
      const subject = await natsSubject(server, db, { leaseSeconds: 1 });
      await using world = new World(subject);
      const shop = await world.join('shop');
      const orders = await world.listen('orders', { prefetch: 5 });
      const messages = stream('orders', 60);
      await shop.sendAll(...messages.slice(0, 20));
      const database = orders.instance as unknown as { setDatabase(isThere: boolean): void };

      database.setDatabase(false);
      await pause(1_500);
      await shop.sendAll(...messages.slice(20));
      database.setDatabase(true);

      expectOrder(await world.untilStored('orders', messages), messages);
    });

    it('what all services over NATS have stored is removed, and what one still needs stays', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const shop = await world.join('shop');
      await world.listen('orders', { listensTo: ['orders'] });
      const sleeping = await world.listen('billing', { listensTo: ['orders'] });
      const [before, after] = [stream('orders', 10), stream('orders', 10)];
      await shop.sendAll(...before);
      await world.untilStored('billing', before);
      await sleeping.connection.close();
      await shop.sendAll(...after);
      await world.untilStored('orders', [...before, ...after]);
      const client = { nc: subject.nc, jsm: await jetstreamManager(subject.nc) } as never;

      const names = new NatsNames(subject.prefix, 1);
      await eventually(async () => expect(await trim(client, names)).toBeGreaterThanOrEqual(10));

      // The ten that billing has not stored.
      await eventually(async () => {
        await trim(client, names);
        expect(await keptBy(subject)).toBe(10);
      });
      await world.listen('billing', { listensTo: ['orders'] });
      expectOrder(await world.untilStored('billing', [...before, ...after]), [...before, ...after]);
      await eventually(async () => {
        await trim(client, names);
        expect(await keptBy(subject)).toBe(0);
      });
    });

    it('a service over NATS tells how much waits for it, and for how long', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const orders = await world.listen('orders', { prefetch: 2, stores: false });
      await orders.sendAll(...stream('orders', 5), message('elsewhere'));
      await orders.untilReceived(2);

      const [facts] = (await orders.connection.inspect?.()) ?? [];

      expect(facts).toMatchObject({ depth: 3, unacknowledged: 2, oldestSeconds: expect.any(Number) });
    });

    it('three instances over NATS that crash and are replaced under load lose no message and no order', async () => {
      const subject = await natsSubject(server, db, { leaseSeconds: 1, shards: 2 });
      await using world = new World(subject);
      const shop = await world.join('shop');
      const messages = manyStreams(30, 40);
      let dying = await world.listen('orders', { prefetch: 20 });
      await world.listen('orders', { prefetch: 20 });

      for (let i = 0; i < messages.length; i += 300) {
        await shop.sendAll(...messages.slice(i, i + 300));
        await dying.instance.crash?.();
        dying = await world.listen('orders', { prefetch: 20 });
      }

      expectOrder(await world.untilStored('orders', messages), messages);
    });
  });
});

describe.runIf(natsIsInstalled)('The NATS transport when the server is killed', () => {
  it('a NATS server that is killed again and again under load loses no message and no order', async () => {
    await using server = await startNatsServer();
    await using world = new World(await natsSubject(server, db));
    const shop = await world.join('shop');
    await world.listen('orders', { prefetch: 20 });
    await world.listen('orders', { prefetch: 20 });
    const messages = manyStreams(25, 40);

    for (let i = 0; i < messages.length; i += 100) {
      const batch = messages.slice(i, i + 100);
      const killed = i % 300 === 0 ? pause(3).then(() => server.kill()) : undefined;
      let isSent = await shop.send(...batch).then(
        () => true,
        () => false,
      );
      await killed;
      if (killed !== undefined) await server.start();
      while (!isSent) {
        await shop.connection.ready(never);
        isSent = await shop.send(...batch).then(
          () => true,
          () => false,
        );
      }
    }

    expectOrder(await world.untilStored('orders', messages), messages);
  });
});
