// Two services as users run them, each in a schema of its own, in one database or two, joined by a transport: one sends
// commands in batches of 100 outside a transaction, the other handles them in stream order. From the commit in the outbox of
// the one to the handler of the other. After each cycle a check makes sure that all were handled once and in order.
import { createWhizbang, migrate, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { Transport } from '../../src/transport.js';
import { commandOf, PlaceOrder } from '../measure/running-service.js';
import { StreamOrder } from '../measure/stream-order.js';
import { Tally } from '../measure/tally.js';
import { messageSource } from '../messages.js';
import type { BenchDatabase, BenchServer } from '../server.js';
import { type Runner, repeatFor } from './contender.js';

const batchSize = 100;

interface PairSettings {
  readonly name: string;
  readonly streams: number;
  readonly messagesPerCycle: number;
  /** Each has a database of its own, on the same server. Default: false. */
  readonly apart?: boolean;
  /** Makes the transport of each service. It gets the database of the receiving one. */
  readonly transport: (service: Service, shop: BenchDatabase) => Transport;
}

type Service = 'till' | 'shop';

export async function openTwoServices(server: BenchServer, settings: PairSettings): Promise<Runner> {
  const { name, streams, messagesPerCycle, transport, apart = false } = settings;
  const tills = await server.createDatabase();
  const shops = apart ? await server.createDatabase() : tills;
  const databases = { till: tills, shop: shops };
  const [order, handled, nextBatch] = [new StreamOrder(streams), new Tally(), messageSource(streams)];
  const onOrder = receptor(PlaceOrder, { transaction: false }, async ({ orderId, number }) => {
    order.see(orderId, number);
    handled.add();
  });
  const open = async (service: Service) => {
    const { connectionString } = databases[service];
    await migrate({ connectionString, schema: service });
    const receptors = service === 'shop' ? [onOrder] : [];
    const way = transport(service, shops);
    const options = { service, schema: service, connectionString, receptors, transport: way };
    return createWhizbang({ ...options, logger: silentLogger }).start();
  };
  // The shop first: before it has subscribed there is nobody to send to.
  const shop = await open('shop');
  const till = await open('till');
  const clients = { till: await tills.connect(), shop: await shops.connect() };
  const isEmpty = async (service: Service) => {
    const text = `select from ${service}.wh_outbox union all select from ${service}.wh_inbox limit 1`;
    return (await clients[service].query(text)).rowCount === 0;
  };
  let sent = 0;
  const cycle = async () => {
    const goal = sent + messagesPerCycle;
    while (sent < goal) {
      const batch = nextBatch(Math.min(batchSize, goal - sent));
      sent += batch.length;
      await till.send(batch.map(commandOf), { to: 'shop' });
    }
    await handled.reaches(goal);
    while (!(await isEmpty('till')) || !(await isEmpty('shop'))) {}
    if (handled.count !== goal) throw new Error(`${handled.count} handled instead of ${goal}`);
    return messagesPerCycle;
  };
  return {
    name,
    slice: (milliseconds) => repeatFor(milliseconds, cycle, async () => order.check()),
    close: async () => {
      await till.stop();
      await shop.stop();
      await clients.till.end();
      await clients.shop.end();
      await tills.drop();
      if (apart) await shops.drop();
    },
  };
}
