// The guide on testing: a running service goes on when its tables are emptied as the page says.
import { expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { OrderPlaced, service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { codeBlocks, pageText } from './page.js';

const empty =
  codeBlocks(pageText('docs/guide/testing.md'), 'sql').find((sql) => sql.startsWith('-- empty')) ?? '';

it.for([
  ['as the guide says', empty],
  ['with what the next calls put back', `${empty} truncate wh_service_instances`],
] as const)('a running service handles what is sent after its tables were emptied %s', async ([, sql]) => {
  await using db = await createTestDatabase();
  const handled: string[] = [];
  await using shop = service(db, {
    receptors: [receptor(OrderPlaced, async ({ orderId }) => void handled.push(orderId))],
  });
  await shop.start();
  for (const orderId of ['a', 'b', 'c']) {
    await shop.publish(OrderPlaced({ orderId }));
    await eventually(() => expect(handled.at(-1)).toBe(orderId));
    expect(sql).toContain('truncate');
    await db.pool.query(sql);
  }
  expect(handled).toEqual(['a', 'b', 'c']);
});
