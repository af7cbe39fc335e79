import { setTimeout as pause } from 'node:timers/promises';
import { it } from 'vitest';
import { ServiceBusStandIn } from '../support/brokers/service-bus/service-bus.js';
import { createTestDatabase } from '../support/database.js';
import { ofInstances, silenceOf } from './accidents.js';
import { startFailingOver } from './failing-over.js';
import { travel } from './journey.js';
import { networkTo } from './network.js';
import { reportStalls } from './report.js';
import { size } from './size.js';

it('a journey over the stand-in of Azure Service Bus loses, doubles and reorders nothing whatever fails', async () => {
  await using till = await createTestDatabase();
  await using shop = await startFailingOver('receiver');
  await using standIn = await ServiceBusStandIn.start();
  const { administrationUrl } = standIn;
  await using network = await networkTo(`amqp://127.0.0.1:${standIn.port}`);
  const connectionString = standIn.connectionString('root', undefined, Number(new URL(network.url).port));
  const stalls = await travel({
    databases: { till: till.connectionString, shop: shop.connectionString },
    way: () => ({ by: 'azure', connectionString, administrationUrl }),
    ...size,
    accidents: [
      ...ofInstances,
      silenceOf(network, 'instances'),
      shop.accident,
      { name: 'all connections were cut', happen: async () => standIn.cutConnections() },
      {
        name: 'the broker was away for two seconds',
        happen: async () => {
          await standIn.goAway();
          await pause(2_000);
          await standIn.comeBack();
        },
      },
    ],
  });
  reportStalls('Azure Service Bus, stand-in', stalls);
});
