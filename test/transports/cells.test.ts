import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  createWhizbang,
  defineCommand,
  defineEvent,
  migrate,
  postgresTransport,
  receptor,
  type Whizbang,
} from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { shardOf } from '../../src/transports/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { createDatabaseOnOwnServer } from '../support/own-server.js';

const schema = z.object({ order: z.uuid(), number: z.number() });
const stream = ({ order }: { order: string }) => order;
const Place = defineCommand('Place', { schema, stream, to: 'orders' });
const Link = defineCommand('Link', { schema, stream, to: 'orders' });
const Note = defineCommand('Note', { schema, to: 'orders' });
const Placed = defineEvent('Placed', { schema, stream });

/** The shop, and two cells of orders on two servers. */
let [shopDb, first, second]: TestDatabase[] = [];
beforeAll(async () => {
  shopDb = await createTestDatabase();
  first = await createTestDatabase();
  second = await createDatabaseOnOwnServer();
  for (const db of [first, second])
    await db.pool.query(
      'create table effects (place bigint generated always as identity, what text, id uuid, number int)',
    );
});
afterAll(async () => {
  for (const db of [shopDb, first, second]) await db?.drop();
});

const logger = silentLogger;
const entry = (db: TestDatabase | undefined) => ({ connectionString: (db as TestDatabase).connectionString });

/** An entry for each cell in the list. */
function databasesOf(cells: readonly string[]) {
  const entries = { 'orders-0': entry(first), 'orders-1': entry(second) };
  return Object.fromEntries(Object.entries(entries).filter(([name]) => cells.includes(name)));
}

function shopOver(cells: readonly string[]): Whizbang {
  const transport = postgresTransport({ databases: databasesOf(cells), cells: { orders: cells } });
  return createWhizbang({ service: 'shop', ...entry(shopDb), transport, logger });
}

/** A cell, which writes down what it handles. A placed order is linked to the one with the next number as its stream. */
function cell(
  name: 'orders-0' | 'orders-1',
  cells: readonly string[],
  others: readonly string[] = [],
): Whizbang {
  const own = name === 'orders-0' ? first : second;
  const note =
    (what: string) =>
    async (
      { order, number }: z.infer<typeof schema>,
      { tx }: { tx: { query(text: string, values: unknown[]): Promise<unknown> } },
    ) => {
      await tx.query('insert into effects (what, id, number) values ($1, $2, $3)', [what, order, number]);
    };
  const place = receptor(Place, async (data, ctx) => {
    await note('Place')(data, ctx);
    const linked = others[data.number];
    if (linked !== undefined) await ctx.send(Link({ order: linked, number: data.number }));
    await ctx.publish(Placed(data));
  });
  const noted = [
    receptor(Link, note('Link')),
    receptor(Placed, note('Placed')),
    receptor(Note, note('Note')),
  ];
  const receptors = [place, ...noted];
  const { [name]: _, ...databases } = databasesOf(cells);
  const transport = postgresTransport({ databases, cells: { orders: cells } });
  return createWhizbang({ service: 'orders', ...entry(own), receptors, transport, logger });
}

async function effects(
  db: TestDatabase | undefined,
  what: string,
): Promise<{ id: string; number: number }[]> {
  const text = 'select id, number from effects where what = $1 order by place';
  return (await (db as TestDatabase).pool.query(text, [what])).rows;
}

/** A random id whose stream is in this one of two cells. */
function idOfCell(place: number): string {
  const id = randomUUID();
  return shardOf(id, 2) === place ? id : idOfCell(place);
}

const waiting = async (db: TestDatabase | undefined, table: string) =>
  (await (db as TestDatabase).pool.query(`select from ${table} where processed_at is null`)).rowCount;

describe('Cells', () => {
  it('a stream is in one cell, with its commands, its events, and what cells send to each other', async () => {
    const cells = ['orders-0', 'orders-1'];
    const orders = Array.from({ length: 20 }, () => randomUUID());
    const links = [0, 1, 0, 1, 1].map(idOfCell);
    await using zero = await cell('orders-0', cells, links).start();
    await using one = await cell('orders-1', cells, links).start();
    await using shop = await shopOver(cells).start();

    for (const number of links.keys()) await shop.send(orders.map((order) => Place({ order, number })));

    const expected = orders.length * links.length;
    await eventually(async () => {
      for (const what of ['Place', 'Link', 'Placed']) {
        const all = [...(await effects(first, what)), ...(await effects(second, what))];
        expect(all).toHaveLength(expected);
      }
    });
    for (const [place, db] of [first, second].entries()) {
      for (const what of ['Place', 'Link', 'Placed']) {
        const here = await effects(db, what);
        expect(here.filter(({ id }) => shardOf(id, 2) !== place)).toEqual([]);
        expect(here.length).toBeGreaterThan(0);
      }
      for (const order of orders.filter((id) => shardOf(id, 2) === place)) {
        const numbers = (await effects(db, 'Place'))
          .filter(({ id }) => id === order)
          .map(({ number }) => number);
        expect(numbers).toEqual([...links.keys()]);
      }
    }
    expect([zero.readiness, one.readiness]).toMatchObject([{ transport: true }, { transport: true }]);
  });

  it('a message without a stream is handled in one cell, from outside and from a cell', async () => {
    const cells = ['orders-0', 'orders-1'];
    const ids = Array.from({ length: 20 }, () => randomUUID());
    await using _zero = await cell('orders-0', cells).start();
    await using one = await cell('orders-1', cells).start();
    await using shop = await shopOver(cells).start();

    for (const [number, order] of ids.entries())
      await (number % 2 === 0 ? shop : one).send(Note({ order, number }));

    await eventually(async () => {
      const [here, there] = [await effects(first, 'Note'), await effects(second, 'Note')];
      expect([...here, ...there].map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect([here.length > 0, there.length > 0]).toEqual([true, true]);
    });
  });

  it('a cell is added by draining: streams move to it, nothing is lost, and each stays in order', async () => {
    const orders = Array.from({ length: 30 }, () => randomUUID());
    const before = ['orders-0', 'orders-0', 'orders-0', 'orders-0'];
    const after = ['orders-0', 'orders-1', 'orders-0', 'orders-1'];
    const commands = (numbers: readonly number[]) =>
      numbers.flatMap((number) => orders.map((order) => Place({ order, number })));
    const isMoved = (id: string) => after[shardOf(id, 4)] === 'orders-1';
    // The cell that is to be added is there already, and gets nothing yet.
    await using _one = await cell('orders-1', after).start();
    {
      await using _zero = await cell('orders-0', before).start();
      await using shop = await shopOver(before).start();
      await shop.send(commands([1, 2, 3]));
      await eventually(async () => expect((await effects(first, 'Place')).length).toBeGreaterThan(10));
      // 1. The senders stop publishing. What they send meanwhile waits in their outboxes.
      await shop.stop();
      const stillSending = shopOver(before);
      await stillSending.send(commands([4]));
      await stillSending.stop();
      // 2. The old cell works off its inbox and its outbox.
      await eventually(async () => {
        expect(await waiting(first, 'wh_inbox')).toBe(0);
        expect(await waiting(first, 'wh_outbox')).toBe(0);
      });
    }
    // 3. All start with the new list.
    await using _zero = await cell('orders-0', after).start();
    await using shop = await shopOver(after).start();
    await shop.send(commands([5, 6]));

    const ofThis = (all: { id: string; number: number }[], order: string) =>
      all.filter(({ id }) => id === order).map(({ number }) => number);
    await eventually(async () => {
      const [atFirst, atSecond] = [await effects(first, 'Place'), await effects(second, 'Place')];
      for (const order of orders) {
        const numbers = [ofThis(atFirst, order), ofThis(atSecond, order)];
        expect(numbers.flat()).toEqual([1, 2, 3, 4, 5, 6]);
        // What was sent and not yet published when the list changed is in the new cell, behind what was handled before.
        const moved = numbers[1] as number[];
        if (!isMoved(order)) expect(moved).toEqual([]);
        else expect(moved.slice(-3)).toEqual([4, 5, 6]);
      }
    });
    expect(orders.some(isMoved)).toBe(true);
  });

  it('a service beside a cell, or beside the schema of a divided service, is refused at the start', async () => {
    await using db = await createTestDatabase();
    await migrate({ pool: db.pool, schema: 'neighbour' });
    const cells = { orders: ['orders-0', 'orders-1'] };
    const databases = { 'orders-1': entry(second) };
    const ofCell = createWhizbang({
      service: 'orders',
      ...entry(db),
      transport: postgresTransport({ databases, cells }),
      logger,
    });
    await expect(ofCell.start()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('"neighbour"'),
    });

    await db.pool.query(
      `insert into neighbour.wh_subscriptions (address, instance_id) values ('orders', gen_random_uuid())`,
    );
    const both = { ...databases, 'orders-0': entry(first) };
    const transport = postgresTransport({ databases: both, cells });
    const sender = createWhizbang({ service: 'shop', ...entry(db), transport, logger });
    await expect(sender.start()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'cells.orders' },
    });
  });

  it('a database that listens to a divided service and is not in its list is refused at the start', async () => {
    const databases = { 'orders-0': entry(first), 'orders-1': entry(second) };
    await using _one = await cell('orders-1', ['orders-0', 'orders-1']).start();
    const transport = postgresTransport({ databases, cells: { orders: ['orders-0'] } });
    const shop = createWhizbang({ service: 'shop', ...entry(shopDb), transport, logger });
    await expect(shop.start()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('databases.orders-1'),
      details: { option: 'cells.orders' },
    });
  });
});
