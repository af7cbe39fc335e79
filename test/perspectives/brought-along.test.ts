// What a call and a batch bring along, so that an event is in its model after as few statements as possible.
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { TakenBookmark } from '../../src/coordinator/index.js';
import type { Queryable } from '../../src/database/index.js';
import { perspectiveFor } from '../../src/index.js';
import { OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { instance } from '../support/work-fixtures.js';
import { orders, rowsOf } from './support/orders.js';

const stock = perspectiveFor<Queryable>()('stock').on(OrderPlaced, () => {});

async function register(db: TestDatabase): Promise<void> {
  await using shop = service(db, { perspectives: [orders, stock] });
  await shop.start();
  await shop.events.append(placed('a'));
  await caughtUp(db);
}

/** The first order is in its model, and nobody works on any perspective. */
async function caughtUp(db: TestDatabase): Promise<void> {
  await eventually(async () => {
    expect(await rowsOf(db, 'orders')).toHaveLength(1);
    const { rows } = await db.pool.query(
      `select from wh_perspective_bookmarks where instance_id is not null or tick < (select max(tick) from wh_event_ticks)`,
    );
    expect(rows).toEqual([]);
  });
}

/** What a call of an instance that has code for both has brought along, by perspective. */
async function broughtAlong(db: TestDatabase): Promise<Record<string, TakenBookmark | null>> {
  const items = await instance(db, 'a').call({ p_perspectives: ['orders@1', 'stock@1'] });
  return Object.fromEntries(
    items.map(({ destination, event_data }) => [
      destination,
      (event_data as { taken: TakenBookmark | null }).taken,
    ]),
  );
}

/** A pool that notes the statements of its clients. */
function watchedPool(db: TestDatabase, statements: string[]): pg.Pool & AsyncDisposable {
  const pool = new pg.Pool({ connectionString: db.connectionString, max: 10 });
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (text: string, values?: unknown[]) => Promise<pg.QueryResult>;
    const noted = (text: string, values?: unknown[]) => {
      statements.push(text);
      return query(text, values);
    };
    client.query = noted as typeof client.query;
  });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() });
}

describe('What is brought along', () => {
  it('a call brings the events that wait, and the models of their streams, along', async () => {
    await using db = await createTestDatabase();
    await register(db);
    await using shop = service(db);
    await shop.events.append([paid('a'), placed('b')]);
    const { 'orders@1': taken, 'stock@1': custom } = await broughtAlong(db);
    expect(taken?.next?.events.map(({ event_type }) => event_type)).toEqual(['OrderPaid', 'OrderPlaced']);
    expect(taken?.next?.models).toMatchObject([{ version: 1, model: { status: 'placed' } }]);
    // Its function writes in a transaction of its own, in which the bookmark is taken.
    expect(custom).toBeNull();
  });

  it('a call brings nothing along when many events wait', async () => {
    await using db = await createTestDatabase();
    await register(db);
    await using shop = service(db);
    await shop.events.append(Array.from({ length: 51 }, (_, i) => placed(`many-${i}`)));
    expect(await broughtAlong(db)).toEqual({ 'orders@1': null, 'stock@1': null });
  });

  it('an event is in its model without a statement that takes its bookmark or reads its model', async () => {
    await using db = await createTestDatabase();
    const statements: string[] = [];
    await using pool = watchedPool(db, statements);
    await using shop = service(db, { connectionString: undefined, pool, perspectives: [orders] });
    await shop.start();
    await shop.events.append(placed('a'));
    await caughtUp(db);
    statements.length = 0;
    await shop.events.append(paid('a'));
    await eventually(async () => expect(await rowsOf(db, 'orders')).toMatchObject([{ status: 'paid' }]));
    const ofPerspectives = statements.filter((text) => /wh_(take|move)_bookmark|wh_read_models/.test(text));
    expect(ofPerspectives).toEqual([expect.stringContaining('wh_move_bookmark')]);
  });
});
