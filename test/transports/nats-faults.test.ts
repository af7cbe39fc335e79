// What happens to a service over NATS when somebody is late, new or careless.

import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type FloorPlace,
  readFloor,
  subscribeService,
  trim,
  writeFloor,
} from '../../src/transports/nats/floors.js';
import { NatsNames } from '../../src/transports/nats/names.js';
import type { TcpProxy } from '../coordinator/tcp-proxy.js';
import { withBroker } from '../support/brokers/broker.js';
import { nats } from '../support/brokers/nats.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import type { Member } from './member.js';
import { type NatsSubject, natsSubject } from './nats-services.js';
import { createServices } from './postgres-services.js';
import { expectOrder, interleaved, message, never, stream, World } from './world.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createServices();
});
afterAll(() => db.drop());

const streamsOf = async ({ nc }: NatsSubject) => (await jetstreamManager(nc)).streams;
const networkOf = ({ instance }: Member) => (instance as unknown as { readonly network: TcpProxy }).network;

/** Until the instance that has the lease has begun to read. */
const untilRead = (subject: NatsSubject) =>
  eventually(async () => {
    const { state } = await (await streamsOf(subject)).info(subject.prefix);
    expect(state.consumer_count).toBeGreaterThan(0);
  });

await withBroker(nats, (server) => {
  describe('The NATS transport when somebody is late, new or careless', () => {
    it('a service over NATS that has received nothing yet keeps its subscription when the stream is trimmed', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const shop = await world.join('shop');
      const first = await world.listen('orders');
      await untilRead(subject);

      await trim({ jsm: await jetstreamManager(subject.nc) } as never, new NatsNames(subject.prefix, 1));
      await first.connection.close();
      const messages = stream('orders', 5);
      await shop.sendAll(...messages);
      await world.listen('orders');

      expectOrder(await world.untilStored('orders', messages), messages);
    });

    it('what a new instance over NATS subscribes to reaches the service while an old one still receives', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const shop = await world.join('shop');
      await world.listen('orders', { listensTo: ['orders'] });
      await untilRead(subject);
      const messages = stream('orders', 10).map((each, i) =>
        i % 2 ? { ...each, address: 'payments' } : each,
      );
      await shop.sendAll(message('payments')); // before anybody wants it

      const newer = await world.listen('orders', { listensTo: ['orders', 'payments'] });
      await shop.sendAll(...messages);

      expectOrder(await world.untilStored('orders', messages), messages);
      expect(newer.received).toEqual([]);
    });

    it('a service over NATS that only sends is not subscribed by a look at its queues', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const shop = await world.join('shop');

      expect(await shop.connection.inspect?.()).toEqual([]);

      const floors = { subjects_filter: new NatsNames(subject.prefix, 1).floors };
      const { state } = await (await streamsOf(subject)).info(subject.prefix, floors);
      expect(state.subjects ?? {}).toEqual({});
    });

    it('a stream at NATS that somebody deletes is made again, and what is sent from then on arrives', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const shop = await world.join('shop');
      await world.listen('orders');
      const [before, after] = [stream('orders', 5), stream('orders', 5)];
      await shop.sendAll(...before);
      await world.untilStored('orders', before);

      await (await streamsOf(subject)).delete(subject.prefix);
      await eventually(async () => {
        await shop.connection.ready(never);
        await shop.sendAll(...after);
      });

      expectOrder(await world.untilStored('orders', [...before, ...after]), after);
    });

    it('a floor at NATS is found whatever is trimmed while it is written', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      await world.join('shop'); // makes the stream
      const names = new NatsNames(subject.prefix, 1);
      const js = jetstream(subject.nc);
      const client = { core: { headers }, js, jsm: await jetstreamManager(subject.nc) } as never;
      const [often, seldom] = ['orders', 'billing'].map((service) => ({ client, names, service, shard: 0 }));
      const move = async (place: FloorPlace, floor: number) =>
        writeFloor(place, { floor, addresses: [] }, (await readFloor(place))?.sequence ?? -1);
      for (const place of [often, seldom]) await subscribeService(place as FloorPlace, []);
      const other = await connect({ servers: new URL(server.url).host });
      const trimmer = { jsm: await jetstreamManager(other) } as never;
      let isOver = false;
      const trimming = (async () => {
        while (!isOver) await trim(trimmer, names);
      })();

      try {
        for (let round = 0; round < 1_500; round++) {
          const { seq } = await js.publish(names.message('elsewhere', 0));
          await move(often as FloorPlace, seq);
          if (round % 3 === 0) await move(seldom as FloorPlace, seq);
        }
      } finally {
        isOver = true;
        await trimming;
        await other.close();
      }
    });

    it('an instance over NATS that is late cannot put back an older floor', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const orders = await world.listen('orders');
      await untilRead(subject);
      const place = {
        client: {
          core: { headers },
          js: jetstream(subject.nc),
          jsm: await jetstreamManager(subject.nc),
        } as never,
        names: new NatsNames(subject.prefix, 1),
        service: 'orders',
        shard: 0,
      };
      const messages = stream('orders', 5);
      await orders.sendAll(...messages);
      await world.untilStored('orders', messages);
      await orders.connection.close(); // its floor is written

      await expect(writeFloor(place, { floor: 1, addresses: [] }, 1)).rejects.toThrow('Another instance');
    });

    it('connections to NATS that fall silent while messages are on their way lose and reorder nothing', async () => {
      const subject = await natsSubject(server, db);
      await using world = new World(subject);
      const shop = await world.join('shop');
      const orders = await world.listen('orders');
      const messages = interleaved(Array.from({ length: 20 }, () => stream('orders', 30)));
      const sending = shop.send(...messages);
      await orders.untilReceived(100);

      for (const member of [shop, orders]) networkOf(member).moveTo(server.url, 'silent');

      // What was on its way may just have been confirmed: what is sent now cannot be.
      const sendingOn = sending.then(() => shop.send(...messages));
      await expect(sendingOn).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      await shop.connection.ready(never);
      await shop.sendAll(...messages);
      expectOrder(await world.untilStored('orders', messages), messages);
    });
  });
});
