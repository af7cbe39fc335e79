// The guide on testing: a running service goes on when its tables are emptied as the page says.
import { expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { placed } from '../events/shop.js';
import { orders, rowsOf } from '../perspectives/support/orders.js';
import { OrderPlaced, service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { codeBlocks, pageText } from './page.js';

const blockOf = (title: string) =>
  codeBlocks(pageText('docs/guide/testing.md'), 'sql').find((sql) => sql.startsWith(`-- ${title}\n`)) ?? '';
const empty = blockOf('empty');

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
    // As the guide says: a call that is under way may have locked the tables in another order.
    await eventually(() => db.pool.query(sql));
  }
  expect(handled).toEqual(['a', 'b', 'c']);
});

it('the perspectives of a running service begin anew after their tables were emptied as the guide says', async () => {
  await using db = await createTestDatabase();
  await using shop = service(db, { perspectives: [orders] });
  await shop.start();
  for (const cents of [1, 2, 3]) {
    await shop.events.append(placed('a', cents));
    await eventually(async () => expect(await rowsOf(db, 'orders')).toMatchObject([{ version: '1', cents }]));
    // A call that is under way may have locked the tables in another order.
    await eventually(() => db.pool.query(`begin; ${empty} ${blockOf('empty perspectives')} commit`));
    expect(await rowsOf(db, 'orders')).toEqual([]);
  }
});
