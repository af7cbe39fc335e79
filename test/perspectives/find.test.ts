import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, perspective, streamIdOf } from '../../src/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const Stored = defineEvent('Stored', {
  schema: z.object({
    id: z.string(),
    order: z.string(),
    Select: z.number().nullable(),
    at: z.coerce.date(),
    tags: z.array(z.string()),
    big: z.string(),
    ok: z.boolean(),
  }),
  stream: ({ id }) => id,
});

/** Its columns have names that SQL has a use for, and every type. */
const things = perspective('user', {
  model: z.object({
    order: z.string(),
    Select: z.number().nullable(),
    at: z.coerce.date(),
    tags: z.array(z.string()),
    big: z.string(),
    ok: z.boolean(),
  }),
  columns: { order: 'text', Select: 'int', at: 'timestamptz', tags: 'jsonb', big: 'bigint', ok: 'boolean' },
  indexes: [['order', 'Select']],
}).starts(Stored, ({ id: _, ...thing }) => thing);

const hostile = `'; drop table wh_outbox; --`;
let db: TestDatabase;
let shop: ReturnType<typeof service>;

beforeAll(async () => {
  db = await createTestDatabase();
  shop = service(db, { perspectives: [things] });
  await shop.start();
  const all = Array.from({ length: 12 }, (_, i) =>
    Stored({
      id: `t${i}`,
      order: i === 11 ? hostile : `o${i % 3}`,
      Select: i % 4 === 0 ? null : i % 5,
      at: new Date(Date.UTC(2026, 10, 1 + i)),
      tags: [`tag${i % 2}`],
      big: String(9_007_199_254_740_993n + BigInt(i)),
      ok: i % 2 === 0,
    }),
  );
  const receipt = await shop.events.append(all);
  await shop.model(things).waitFor(receipt, { timeoutSeconds: 60 });
});
afterAll(async () => {
  await shop.stop();
  await db.drop();
});

const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id).sort();
const streams = (...numbers: number[]) => numbers.map((i) => streamIdOf(`t${i}`)).sort();

describe('model(p).find', () => {
  it('a model is found by values of every type, by lists of them, and by null', async () => {
    const { find } = shop.model(things);
    expect(idsOf(await find({ where: { order: 'o1' } }))).toEqual(streams(1, 4, 7, 10));
    expect(idsOf(await find({ where: { order: ['o1', hostile] } }))).toEqual(streams(1, 4, 7, 10, 11));
    expect(idsOf(await find({ where: { Select: null } }))).toEqual(streams(0, 4, 8));
    expect(idsOf(await find({ where: { Select: 1, ok: true } }))).toEqual(streams(6));
    expect(idsOf(await find({ where: { at: new Date(Date.UTC(2026, 10, 3)) } }))).toEqual(streams(2));
    expect(idsOf(await find({ where: { big: '9007199254740994' } }))).toEqual(streams(1));
    expect(idsOf(await find({ where: { tags: [['tag1']], order: 'o1' } }))).toEqual(streams(1, 7));
    expect(await find({ where: { order: [] } })).toEqual([]);
    expect(await find()).toHaveLength(12);
  });

  it('a value is never part of the statement, whatever is in it', async () => {
    const found = await shop.model(things).find({ where: { order: hostile } });
    expect(found).toMatchObject([{ id: streamIdOf('t11'), version: 1, model: { order: hostile } }]);
    expect((await db.pool.query('select 1 from wh_outbox')).rows).toEqual([]);
  });

  it.each([
    [{ Select: 'asc' }],
    [{ Select: 'desc' }],
    [{ order: 'desc', Select: 'asc' }],
    [{ at: 'desc' }],
    [{}],
  ] as const)('pages in the order %o follow one another without a gap or a double', async (orderBy) => {
    const { find } = shop.model(things);
    const whole = await find({ orderBy });
    const paged: (typeof whole)[number][] = [];
    for (;;) {
      const after = paged.at(-1)?.position;
      const page = await find({ orderBy, limit: 5, ...(after === undefined ? {} : { after }) });
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(paged).toEqual(whole);
    expect(whole).toHaveLength(12);
    const [column, direction] = Object.entries(orderBy)[0] ?? [];
    if (column === undefined) return;
    const values = whole.map(({ model }) => model[column as 'Select']).filter((value) => value !== null);
    const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    expect(values).toEqual(direction === 'asc' ? sorted : sorted.toReversed());
  });

  it('a column that the perspective does not have is refused, with the one that was meant', async () => {
    const where = { orders: 'o1' } as never;
    await expect(shop.model(things).find({ where })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      hint: 'Did you mean order?',
    });
    const orderBy = { '"; drop table wh_outbox': 'asc' } as never;
    await expect(shop.model(things).find({ orderBy })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    const query = JSON.stringify({ where: { 'id"': 1 }, order: [], limit: 1 });
    await expect(db.pool.query('select wh_find_models($1, $2)', ['user@1', query])).rejects.toMatchObject({
      code: 'WB001',
    });
  });

  it('a value that is undefined is refused: it would find everything', async () => {
    const where = { order: undefined } as never;
    await expect(shop.model(things).find({ where })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: 'model(user).find: where.order is undefined.',
    });
  });

  it('a position of another order, or none at all, is refused', async () => {
    const { find } = shop.model(things);
    const [first] = await find({ orderBy: { at: 'asc' } });
    for (const after of [first?.position, 'x', '']) {
      const refused = { code: 'INVALID_OPTION', details: { option: 'after' } };
      await expect(find({ orderBy: { order: 'asc' }, after })).rejects.toMatchObject(refused);
    }
  });

  it('a value that is not of the type of its column is refused by the database', async () => {
    const where = { Select: 'many' } as never;
    await expect(shop.model(things).find({ where })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
