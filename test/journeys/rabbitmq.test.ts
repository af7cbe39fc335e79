import { expect, it } from 'vitest';
import { withBroker } from '../support/brokers/broker.js';
import { startRabbitmqCluster } from '../support/brokers/rabbitmq-cluster.js';
import { rabbitmqIsInstalled } from '../support/brokers/rabbitmq-node.js';
import { createTestDatabase } from '../support/database.js';
import { ofInstances, silenceOf } from './accidents.js';
import { startFailingOver } from './failing-over.js';
import { travel } from './journey.js';
import { networkTo } from './network.js';
import { reportStalls } from './report.js';
import { size } from './size.js';

const three = {
  name: 'three RabbitMQ nodes',
  howToTry: 'Install rabbitmq-server.',
  find: async () => (rabbitmqIsInstalled ? startRabbitmqCluster() : undefined),
};

await withBroker(three, (cluster) => {
  it('a journey over three RabbitMQ nodes loses, doubles and reorders nothing, whoever dies', async () => {
    await using till = await createTestDatabase();
    await using shop = await startFailingOver('receiver');
    const [first, ...others] = cluster.urls as [string, ...string[]];
    await using network = await networkTo(first);
    const prefix = 'journey';
    const stalls = await travel({
      databases: { till: till.connectionString, shop: shop.connectionString },
      way: () => ({ by: 'rabbitmq', urls: [network.url, ...others], prefix }),
      ...size,
      accidents: [
        ...ofInstances,
        silenceOf(network, 'instances'),
        shop.accident,
        { name: "the queue's leader was killed", happen: () => cluster.killLeaderOf(/shop/) },
        { name: 'all nodes were killed and started again', happen: () => cluster.restart() },
      ],
    });
    reportStalls('RabbitMQ, three nodes', stalls);
    expect(stalls).toHaveLength(7);
  });
});
