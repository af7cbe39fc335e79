import { EntitySchema, MikroORM, type SqlEntityManager } from '@mikro-orm/postgresql';
import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptorFor } from '../../src/index.js';
import { asQueryable } from '../../src/transactions/index.js';
import { libraries } from '../crashes/support/libraries.js';
import { arrive } from '../runtime/arrivals.js';
import { OrderPlaced, service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

interface Effect {
  id: string;
}
const Effect = new EntitySchema<Effect>({
  name: 'Effect',
  tableName: 'effects',
  properties: { id: { type: 'text', primary: true } },
});

const orderIds = ['a', 'b', 'c', 'd', 'e'];

/** All wait for the one place. The third fails, the first time in company. */
async function handleAll(
  db: TestDatabase,
  transaction: <T>(work: (tx: unknown) => Promise<T>) => Promise<T>,
  write: (tx: unknown, id: string) => unknown,
): Promise<number[]> {
  await db.pool.query('create table effects (id text primary key)');
  for (const orderId of orderIds) await arrive(db, 'OrderPlaced', { orderId });
  const sizes = new Map<unknown, number>();
  const attempts: number[] = [];
  const onPlaced = receptorFor<unknown>()(OrderPlaced, async ({ orderId }, { tx, attempt }) => {
    sizes.set(tx, (sizes.get(tx) ?? 0) + 1);
    await write(tx, orderId);
    if (orderId !== 'c') return;
    attempts.push(attempt);
    if (attempt < 2) throw new Error('no');
  });
  await using shop = service<unknown>(db, {
    concurrency: 1,
    receptors: [onPlaced],
    transaction,
    transport: inProcessTransport(),
    retry: { firstDelaySeconds: 0.01 },
  });
  await shop.start();
  await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
  const { rows } = await db.pool.query<Effect>('select id from effects order by id');
  expect(rows.map(({ id }) => id)).toEqual(orderIds);
  expect([...new Set(attempts)]).toEqual([1, 2]); // what failed in company was not counted
  return [...sizes.values()];
}

const names = ['Drizzle', 'Knex', 'Kysely', 'TypeORM'];

/** What takes long is not shared: on a busy machine there may be no company at first. */
const inCompany = { retry: 3 };

describe('Messages that share a transaction of a library', inCompany, () => {
  it.each(names)(
    'messages that share a transaction of %s take effect once, though one of them fails',
    async (name) => {
      await using db = await createTestDatabase();
      const library = await libraries[name]?.(db.connectionString);
      if (library === undefined) throw new Error(name);
      try {
        const insert = 'insert into effects values ($1::text)';
        const sizes = await handleAll(db, library.transaction, (tx, id) =>
          asQueryable(tx).query(insert, [id]),
        );
        expect(Math.max(...sizes)).toBeGreaterThan(1);
      } finally {
        await library.close();
      }
    },
  );

  it('messages that share a transaction of MikroORM, which writes at the commit, take effect once', async () => {
    await using db = await createTestDatabase();
    const orm = await MikroORM.init({
      clientUrl: db.connectionString,
      entities: [Effect],
      pool: { max: 5 },
    });
    try {
      const sizes = await handleAll(
        db,
        (work) => orm.em.fork().transactional(work),
        (em, id) => (em as SqlEntityManager).persist((em as SqlEntityManager).create(Effect, { id })),
      );
      expect(Math.max(...sizes)).toBeGreaterThan(1);
    } finally {
      await orm.close();
    }
  });
});
