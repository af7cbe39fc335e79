import { it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { ofInstances } from './accidents.js';
import { startFailingOver } from './failing-over.js';
import { travel } from './journey.js';
import { reportStalls } from './report.js';
import { size } from './size.js';

it('a journey between two databases loses, doubles and reorders nothing when instances die and the receiver fails over', async () => {
  await using till = await createTestDatabase();
  await using shop = await startFailingOver('receiver');
  const databases = { shop: { connectionString: shop.connectionString, schema: 'whizbang' } };
  const stalls = await travel({
    databases: { till: till.connectionString, shop: shop.connectionString },
    way: (role) => ({ by: 'postgres', databases: role === 'till' ? databases : {} }),
    ...size,
    accidents: [...ofInstances, shop.accident],
  });
  reportStalls('PostgreSQL, two databases', stalls);
});
