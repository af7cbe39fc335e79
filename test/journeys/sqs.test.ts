import { startFauxqs } from 'fauxqs';
import { it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { ofInstances, silenceOf } from './accidents.js';
import { startFailingOver } from './failing-over.js';
import { travel } from './journey.js';
import { networkTo } from './network.js';
import { reportStalls } from './report.js';
import { size } from './size.js';

it('a journey over the stand-in of SQS loses, doubles and reorders nothing whatever fails', async () => {
  await using till = await createTestDatabase();
  await using shop = await startFailingOver('receiver');
  const broker = await startFauxqs({ port: 0, logger: false });
  try {
    await using network = await networkTo(`http://127.0.0.1:${broker.port}`);
    const stalls = await travel({
      databases: { till: till.connectionString, shop: shop.connectionString },
      way: () => ({ by: 'sqs', endpoint: network.url, topic: 'journey' }),
      ...size,
      accidents: [
        ...ofInstances,
        silenceOf(network, 'instances'),
        shop.accident,
        { name: 'the broker was away for two seconds', happen: () => network.goAway(2_000) },
      ],
    });
    reportStalls('SQS, stand-in', stalls);
  } finally {
    await broker.stop();
  }
});
