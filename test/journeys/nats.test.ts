import { expect, it } from 'vitest';
import { withBroker } from '../support/brokers/broker.js';
import { startNatsCluster } from '../support/brokers/nats-cluster.js';
import { natsIsInstalled } from '../support/brokers/nats-server.js';
import { createTestDatabase } from '../support/database.js';
import { ofInstances, silenceOf } from './accidents.js';
import { startFailingOver } from './failing-over.js';
import { travel } from './journey.js';
import { networkTo } from './network.js';
import { reportStalls } from './report.js';
import { size } from './size.js';

const three = {
  name: 'three NATS servers',
  howToTry: 'Install nats-server.',
  find: async () => (natsIsInstalled ? startNatsCluster() : undefined),
};

await withBroker(three, (cluster) => {
  it('a journey over three NATS servers loses, doubles and reorders nothing, whoever dies', async () => {
    await using till = await createTestDatabase();
    await using shop = await startFailingOver('receiver');
    const [first, ...others] = cluster.servers as [string, ...string[]];
    await using network = await networkTo(first);
    const prefix = 'journey';
    const stalls = await travel({
      databases: { till: till.connectionString, shop: shop.connectionString },
      way: () => ({ by: 'nats', servers: [network.url, ...others], prefix, replicas: 3 }),
      ...size,
      inspect: async (pool) => ({
        nats: await cluster.inspect(prefix),
        leases: (await pool.query('select *, clock_timestamp() from wh_receiver_leases')).rows,
        instances: (await pool.query('select * from wh_service_instances')).rows,
      }),
      accidents: [
        ...ofInstances,
        silenceOf(network, 'instances'),
        shop.accident,
        { name: "the stream's leader was killed", happen: () => cluster.killLeaderOf(prefix) },
        { name: 'all servers were stopped and started again', happen: () => cluster.restart() },
      ],
    });
    reportStalls('NATS, three servers', stalls);
    expect(stalls).toHaveLength(7);
  });
});
