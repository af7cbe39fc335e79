import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Queryable } from '../../src/database/index.js';
import { perspective, perspectiveFor, streamIdOf } from '../../src/index.js';
import { OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { holdsIn, retryNow } from './support/holds.js';
import { rowsOf } from './support/orders.js';

const custom = (write: (tx: Queryable, orderId: string) => Promise<unknown>) =>
  perspectiveFor<Queryable>()('noted').on(OrderPlaced, async ({ orderId }, { tx }) => {
    await write(tx, orderId);
  });

const insert = (tx: Queryable, orderId: string) => tx.query('insert into notes values ($1)', [orderId]);

async function notesOf(db: TestDatabase): Promise<readonly string[]> {
  const { rows } = await db.pool.query<{ order_id: string }>('select order_id from notes order by order_id');
  return rows.map(({ order_id }) => order_id);
}

describe('What fails in an odd way in a perspective', () => {
  it.each([
    {
      what: 'a constraint that is checked at the commit',
      write: async (tx: Queryable, orderId: string) => {
        await insert(tx, orderId);
        if (orderId === 'b') await insert(tx, orderId);
      },
    },
    {
      what: 'an error of a statement that was not passed on',
      write: async (tx: Queryable, orderId: string) => {
        await insert(tx, orderId);
        if (orderId === 'b') await tx.query('select 1 / 0').catch(() => {});
      },
    },
    {
      what: 'an error whose text PostgreSQL cannot store',
      write: async (tx: Queryable, orderId: string) => {
        await insert(tx, orderId);
        if (orderId === 'b') throw new Error('a zero \0 and half a pair \ud800');
      },
    },
    {
      what: 'another server that is away',
      write: async (tx: Queryable, orderId: string) => {
        await insert(tx, orderId);
        const facts = { code: 'ECONNREFUSED', syscall: 'connect', errno: -111 };
        if (orderId === 'b') throw Object.assign(new Error('connect ECONNREFUSED'), facts);
      },
    },
    {
      what: 'a thrown value without a text',
      write: async (tx: Queryable, orderId: string) => {
        await insert(tx, orderId);
        if (orderId === 'b') throw Object.create(null);
      },
    },
  ])('$what holds its own stream of a perspective, and nothing else', async ({ write }) => {
    await using db = await createTestDatabase();
    await db.pool.query('create table notes (order_id text unique deferrable initially deferred)');
    await using shop = service(db, { perspectives: [custom(write)] });
    await shop.start();
    await shop.events.append([placed('a'), placed('b'), placed('c')]);
    await eventually(async () => expect(await notesOf(db)).toEqual(['a', 'c']));
    await eventually(async () =>
      expect(await holdsIn(db)).toMatchObject([{ id: streamIdOf('b'), failed: 1 }]),
    );
    await shop.events.append(placed('d'));
    await eventually(async () => expect(await notesOf(db)).toEqual(['a', 'c', 'd']));
  });

  it('a held stream whose model is refused at its retry costs other held streams no event', async () => {
    await using db = await createTestDatabase();
    const trouble = { isOn: true, isRefused: true };
    const model = z.object({ steps: z.array(z.number()), size: z.number() });
    const steps = perspective('steps', { model, columns: { size: 'int' } })
      .starts(OrderPlaced, () => ({ steps: [1], size: 1 }))
      .on(OrderPaid, (before, { orderId, cents }) => {
        if (trouble.isOn) throw new Error('not yet');
        const all = [...before.steps, cents];
        return { steps: all, size: trouble.isRefused && orderId === 'b' ? 0.5 : all.length };
      });
    await using shop = service(db, { perspectives: [steps] });
    await shop.start();
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) await shop.events.append([placed(id), paid(id, 2), paid(id, 3), paid(id, 4)]);
    await eventually(async () => expect(await holdsIn(db)).toHaveLength(5));
    trouble.isOn = false;
    await retryNow(db);
    await eventually(async () =>
      expect(await holdsIn(db)).toMatchObject([{ id: streamIdOf('b'), failed: 2 }]),
    );
    trouble.isRefused = false;
    await retryNow(db);
    await eventually(async () => expect(await holdsIn(db)).toEqual([]));
    const rows = await rowsOf<{ data: unknown; version: string }>(db, 'steps');
    expect(rows).toHaveLength(5);
    for (const row of rows) expect(row).toMatchObject({ version: '4', data: { steps: [1, 2, 3, 4] } });
  });

  it('a function that changes its model fails, and the error names the perspective', async () => {
    await using db = await createTestDatabase();
    const careless = perspective('careless', { model: z.object({ steps: z.array(z.number()) }) })
      .starts(OrderPlaced, () => ({ steps: [1] }))
      .on(OrderPaid, (before, { cents }) => {
        before.steps.push(cents);
        return before;
      });
    await using shop = service(db, { perspectives: [careless] });
    await shop.start();
    await shop.events.append([placed('a'), paid('a', 2)]);
    await eventually(async () =>
      expect(await holdsIn(db)).toMatchObject([
        { failed: 2, error: expect.stringMatching(/^careless: .*OrderPaid/) },
      ]),
    );
    expect(await rowsOf(db, 'careless')).toMatchObject([{ data: { steps: [1] } }]);
  });

  it('a stream beside one that fails twice has each event once', async () => {
    await using db = await createTestDatabase();
    const steps = perspective('steps', { model: z.object({ steps: z.array(z.number()) }) })
      .starts(OrderPlaced, () => ({ steps: [1] }))
      .on(OrderPaid, (before, { orderId, cents }) => {
        if (orderId === 'bad') throw new Error('poison');
        return { steps: [...before.steps, cents] };
      });
    await using shop = service(db, { perspectives: [steps] });
    await shop.start();
    for (const cents of [2, 3]) {
      const first = cents === 2 ? [placed('bad'), placed('good')] : [];
      await shop.events.append([...first, paid('bad', cents), paid('good', cents)]);
      await retryNow(db);
      await eventually(async () => {
        const rows = await rowsOf<{ id: string; version: string }>(db, 'steps');
        expect(rows.find(({ id }) => id === streamIdOf('good'))).toMatchObject({ version: String(cents) });
      });
    }
    const rows = await rowsOf<{ id: string }>(db, 'steps');
    expect(rows.find(({ id }) => id === streamIdOf('good'))).toMatchObject({ data: { steps: [1, 2, 3] } });
    expect(await holdsIn(db)).toMatchObject([{ id: streamIdOf('bad'), failed: 2 }]);
  });
});
