import { readFileSync } from 'node:fs';
import pg from 'pg';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createWhizbang, migrate, perspective } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { OrderPlaced, paid, placed } from '../events/shop.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { orders, revenue } from './support/orders.js';
import { fragileOrders } from './support/poison.js';

const inlined = perspective('inlined', { model: z.object({ cents: z.number() }), inline: true }).starts(
  OrderPlaced,
  ({ cents }) => ({ cents }),
);
const page = readFileSync(new URL('../../docs/operate/least-privilege.md', import.meta.url), 'utf8');

it('a role with the documented grants can keep, query and operate perspectives', async () => {
  await using db = await createTestDatabase({ template: 'empty' });
  const names = (text: string) => text.replaceAll(/whizbang_(owner|app|reader|operator)/g, `${db.name}_$1`);
  const [before = '', ...after] = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) =>
    names(sql),
  );
  await db.pool.query(before);
  const owner = await db.connect();
  await owner.query(names('set role whizbang_owner'));
  await migrate({ client: owner, schema: 'messaging' });
  for (const sql of after) await db.pool.query(sql);
  const options = names('-c role=whizbang_app');
  const pool = new pg.Pool({ connectionString: db.connectionString, options, max: 12 });
  try {
    const fragile = fragileOrders({ isCured: false });
    const perspectives = [orders, revenue, fragile, inlined];
    const common = { service: 'shop', schema: 'messaging', logger: silentLogger };
    await using shop = createWhizbang({ ...common, pool, perspectives });
    await shop.start();
    const atLeast = await shop.events.append([placed('a', 13), paid('a', 13)]);
    expect(await shop.model(inlined).get('a')).toEqual({ cents: 13 });
    const long = { timeoutSeconds: 60 };
    expect(await shop.model(orders).get('a', { atLeast })).toMatchObject({ status: 'paid' });
    expect(await shop.model(revenue).get('2026-11-17', { atLeast, ...long })).toMatchObject({ orders: 1 });
    await shop.model(orders).waitFor(atLeast, long);
    expect(await shop.model(orders).find({ where: { status: 'paid' } })).toHaveLength(1);
    await eventually(async () => expect(await shop.perspectives.held(fragile)).toHaveLength(1));
    await shop.perspectives.retry(fragile, 'a');
    await shop.perspectives.skip(fragile, 'a', { version: 2, reason: 'a test' });
    await shop.model(fragile).waitFor(atLeast, long);
    expect((await shop.perspectives.status()).map(({ name }) => name)).toEqual([
      'fragile',
      'inlined',
      'orders',
      'revenue',
    ]);
  } finally {
    await pool.end();
    for (const role of ['owner', 'app', 'reader', 'operator'].map((kind) => names(`whizbang_${kind}`))) {
      await db.pool.query(`drop owned by ${role} cascade`);
      await db.pool.query(`drop role ${role}`);
    }
  }
});
