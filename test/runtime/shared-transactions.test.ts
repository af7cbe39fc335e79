import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { WorkCoordinator } from '../../src/coordination.js';
import type { Queryable } from '../../src/database/index.js';
import {
  defineEvent,
  inProcessTransport,
  type Receptor,
  type ReceptorContext,
  receptor,
  streamIdOf,
  type WhizbangOptions,
} from '../../src/index.js';
import { callWith } from '../crashes/support/call-with.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

const OrderPaid = defineEvent('OrderPaid', {
  schema: z.object({ orderId: z.string() }),
  stream: ({ orderId }) => orderId,
});

interface Order {
  readonly orderId: string;
  readonly step: number;
}

/** What it was given, in this order. The transaction of the pool is an object of its own each time. */
class Runs {
  readonly orders: string[] = [];
  readonly transactions: unknown[] = [];

  add({ orderId, step }: Order, { tx }: { readonly tx: unknown }): void {
    this.orders.push(`${orderId}${step}`);
    this.transactions.push(tx);
  }

  /** Whether this transaction was also given to that one. */
  isShared(tx: unknown, id: string): boolean {
    return this.transactions[this.orders.indexOf(id)] === tx;
  }

  /** How many messages each transaction was given to. */
  get sizes(): number[] {
    return [...new Set(this.transactions)].map(
      (tx) => this.transactions.filter((each) => each === tx).length,
    );
  }
}

type Handler = (order: Order, ctx: ReceptorContext<Queryable, Order>) => unknown;

/** Writes an effect and sends a message on, and then does the rest. */
function placing(runs: Runs, rest: Handler = () => {}, options: object = {}): Receptor {
  return receptor(OrderPlaced, options, async (order, ctx) => {
    runs.add(order, ctx);
    await ctx.tx.query('insert into effects values ($1)', [`${order.orderId}${order.step}`]);
    await ctx.publish(OrderPaid({ orderId: order.orderId }), { delaySeconds: 3_600 });
    await rest(order, ctx);
  });
}

/** All of these wait before the instance starts; with one place, they are one group. */
async function waiting(db: TestDatabase, ids: readonly string[]): Promise<Map<string, string>> {
  await db.pool.query('create table if not exists effects (id text unique deferrable initially deferred)');
  const messageIds = new Map<string, string>();
  for (const id of ids) {
    const order = { orderId: id.charAt(0), step: Number(id.slice(1)) };
    messageIds.set(id, await arrive(db, 'OrderPlaced', order));
  }
  return messageIds;
}

function onePlace(db: TestDatabase, receptors: Receptor[], options: Partial<WhizbangOptions> = {}) {
  return service(db, { concurrency: 1, receptors, transport: inProcessTransport(), ...options });
}

async function idsIn(db: TestDatabase, text: string): Promise<unknown[]> {
  return (await db.pool.query({ text, rowMode: 'array' })).rows.flat();
}

const effectsOf = (db: TestDatabase) => idsIn(db, 'select id from effects order by id');
const leftIn = (db: TestDatabase) =>
  idsIn(
    db,
    `select concat(event_data ->> 'orderId', event_data ->> 'step') from wh_inbox order by sequence_order`,
  );
/** Whose stream each message is in that was sent. */
const sentBy = (db: TestDatabase) => idsIn(db, `select event_data ->> 'orderId' from wh_outbox order by 1`);

const late = { retry: { firstDelaySeconds: 300, jitter: 0 } };

const settles = callWith('inboxCompletions', 'newOutboxMessages');

/** What takes long is not shared. On a machine that is busy with other tests it may be that there is no company: try again. */
const inCompany = { retry: 3 };

// The very first run of all this code takes long.
beforeAll(async () => {
  await using db = await createTestDatabase();
  await waiting(db, ['a1', 'b1', 'c1', 'd1']);
  await using shop = onePlace(db, [placing(new Runs())]);
  await shop.start();
  await eventually(async () => expect(await leftIn(db)).toEqual([]));
});

describe('Messages that wait together', inCompany, () => {
  it('messages that wait together are handled in one transaction, settled and committed once', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1', 'e1']);
    const texts: string[] = [];
    await using pool = Object.assign(new pg.Pool({ connectionString: db.connectionString }), {
      [Symbol.asyncDispose]: () => pool.end(),
    });
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (
        text: string,
        values?: unknown[],
      ) => Promise<pg.QueryResult>;
      client.query = (async (text: string, values?: unknown[]) => {
        texts.push(text);
        return query(text, values);
      }) as typeof client.query;
    });
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { pool, connectionString: undefined } as object);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([5]);
    expect(texts.filter((text) => /^begin/.test(text))).toHaveLength(1);
    expect(texts.filter((text) => text === 'commit')).toHaveLength(1);
    expect(texts.filter((text) => settles.test(text))).toHaveLength(1);
    expect(await effectsOf(db)).toEqual(['a1', 'b1', 'c1', 'd1', 'e1']);
    expect(await sentBy(db)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('messages have a transaction each when there are no more of them than places', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { concurrency: 4 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1, 1]);
  });

  it('messages have a transaction each when groupSize is 1', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { groupSize: 1 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });

  it('no more than groupSize messages share a transaction', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1', 'e1']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { groupSize: 2 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([2, 2, 1]);
  });

  it('messages that share a transaction send in the order in which they are handled', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'a2', 'a3', 'a4']);
    const runs = new Runs();
    const handle = receptor(OrderPlaced, async (order, ctx) => {
      runs.add(order as Order, ctx);
      const paid = OrderPaid({ orderId: `${order.orderId}${order.step}` });
      if (order.step % 2 === 1) await ctx.publish(paid, { delaySeconds: 3_600 });
      else await shop.publish(paid, { tx: ctx.tx, delaySeconds: 3_600 });
    });
    await using shop = service(db, { receptors: [handle], concurrency: 1, transport: inProcessTransport() });
    await shop.start();
    await eventually(async () => expect((await db.pool.query('select from wh_inbox')).rowCount).toBe(0));
    const { rows } = await db.pool.query(
      `select event_data ->> 'orderId' as id from wh_outbox order by sequence_order`,
    );
    expect(rows.map(({ id }) => id)).toEqual(['a1', 'a2', 'a3', 'a4']);
    expect(runs.sizes).toEqual([4]);
  });

  it('messages that share a transaction keep the order of their stream, and deep streams delay no other', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'a2', 'a3', 'b1', 'b2']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([5]);
    expect(runs.orders).toEqual(['a1', 'b1', 'a2', 'a3', 'b2']);
  });

  it('messages do not wait for a slow one in their group: another group handles them', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1', 'e1', 'f1']);
    const runs = new Runs();
    let goOn = () => {};
    const hangs = new Promise<void>((resolve) => (goOn = resolve));
    const onPlaced = placing(runs, ({ orderId }) => (orderId === 'a' ? hangs : undefined));
    await using shop = onePlace(db, [onPlaced], { concurrency: 2 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual(['a1']));
    goOn();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(await effectsOf(db)).toHaveLength(6);
  });
});

describe('A message that fails in a shared transaction', inCompany, () => {
  const failures: Record<
    string,
    { readonly rest: Handler; readonly options?: object; readonly error: RegExp }
  > = {
    'its handler throws': {
      rest: () => {
        throw new Error('out of stock');
      },
      error: /out of stock/,
    },
    'it catches the error of a statement': {
      rest: (_, { tx }) => tx.query('select 1 / 0').catch(() => {}),
      error: /division by zero/,
    },
    'the commit fails': {
      rest: (_, { tx }) => tx.query(`insert into effects values ('b1')`),
      error: /duplicate key/,
    },
    'its time is up': {
      rest: () => new Promise(() => {}),
      options: { timeoutSeconds: 0.05 },
      error: /longer than 0.05 seconds/,
    },
    'what it sends is refused': {
      rest: (_, { publish }) => publish(OrderPaid({ orderId: 'b' }), { expectedVersion: 7 }),
      error: /version/,
    },
    'it says "rollback"': { rest: (_, { tx }) => tx.query('rollback').catch(() => {}), error: /rollback/ },
  };

  it.each(Object.entries(failures))(
    'a message that fails in a shared transaction (%s) loses one attempt, and the others take effect once',
    async (_, { rest, options, error }) => {
      await using db = await createTestDatabase();
      await waiting(db, ['a1', 'b1', 'b2', 'c1', 'd1']);
      const runs = new Runs();
      const events: unknown[] = [];
      const handler: Handler = (order, ctx) =>
        order.orderId === 'b' && order.step === 1 ? rest(order, ctx) : undefined;
      await using shop = onePlace(db, [placing(runs, handler, { ...late, ...options })]);
      shop.on('failure', ({ attempt }) => events.push(attempt));
      await shop.start();
      await eventually(async () => expect(await leftIn(db)).toEqual(['b1', 'b2']));
      await eventually(() => expect(events).toEqual([1]));
      const failed = await eventually(async () => {
        const { rows } = await db.pool.query(`select attempts, error from wh_inbox where attempts > 0`);
        expect(rows).toHaveLength(1);
        return rows as unknown[];
      });
      expect(failed).toEqual([{ attempts: 1, error: expect.stringMatching(error) }]);
      expect(runs.sizes[0]).toBeGreaterThan(1); // it was in company at first
      expect(runs.orders.lastIndexOf('b2')).toBeLessThan(runs.orders.lastIndexOf('b1'));
      expect(await effectsOf(db)).toEqual(['a1', 'c1', 'd1']);
      expect(await sentBy(db)).toEqual(['a', 'c', 'd']);
      await shop.stop();
      expect(events).toEqual([1]);
    },
  );

  it('a message that failed in a shared transaction runs by itself behind those of its stream that succeeded', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'a2', 'a3', 'b1']);
    const runs = new Runs();
    const onPlaced = placing(
      runs,
      ({ orderId, step }) => {
        if (orderId === 'a' && step === 2) throw new Error('no');
      },
      late,
    );
    await using shop = onePlace(db, [onPlaced]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual(['a2', 'a3']));
    expect(runs.sizes[0]).toBeGreaterThan(1);
    expect(await effectsOf(db)).toEqual(['a1', 'b1']);
  });

  it('a message with a bad payload is a dead letter, and the rest of its group is handled', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1']);
    await arrive(db, 'OrderPlaced', { orderId: 'b', step: 'first' });
    await waiting(db, ['c1']);
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(await deadLetters(db)).toHaveLength(1);
    expect(await effectsOf(db)).toEqual(['a1', 'c1']);
  });

  it('a receptor whose shared transaction failed handles messages one by one for a while', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1', 'd1', 'e1']);
    const runs = new Runs();
    const onPlaced = placing(
      runs,
      async ({ orderId }) => {
        if (orderId !== 'b') return;
        await new Promise((resolve) => setTimeout(resolve, 30)); // so long as it was open, it is not shared after it
        throw new Error('no');
      },
      late,
    );
    await using shop = onePlace(db, [onPlaced]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual(['b1']));
    expect(runs.sizes).toEqual([2, 1, 1, 1, 1, 1]);
  });
});

describe('A message with a transaction of its own', () => {
  it.each<[string, (runs: Runs) => Receptor[]]>([
    ['of a receptor that says so', (runs) => [placing(runs, undefined, { alone: true })]],
    [
      'of a type with several receptors',
      (runs) => [
        placing(runs, undefined, { name: 'first' }),
        receptor(OrderPlaced, { name: 'second' }, () => {}),
      ],
    ],
  ])('a message %s has a transaction of its own', async (_, receptors) => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const runs = new Runs();
    await using shop = onePlace(db, receptors(runs));
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });

  it('a message that failed before has a transaction of its own', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    await db.pool.query('update wh_inbox set attempts = 1');
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });

  it('a message whose lease holder died has a transaction of its own', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const dead = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'shop' } });
    expect((await dead.processWorkBatch({ maxInboxItems: 10 })).inbox).toHaveLength(3);
    for (const table of ['wh_active_streams', 'wh_inbox']) {
      await db.pool.query(`update ${table} set lease_expiry = clock_timestamp()`);
    }
    const runs = new Runs();
    await using shop = onePlace(db, [placing(runs)], { takeoverSeconds: 0 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });

  it('a message of a receptor that has become slow has a transaction of its own', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const runs = new Runs();
    const slow = () => new Promise((resolve) => setTimeout(resolve, 100));
    await using shop = onePlace(db, [placing(runs, slow)]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(runs.sizes).toEqual([1, 1, 1]);
  });
});

/** Another instance, which takes a stream away from the one that has it. */
class Thief {
  readonly coordinator: WorkCoordinator;
  readonly #db: TestDatabase;

  constructor(db: TestDatabase) {
    this.#db = db;
    this.coordinator = new WorkCoordinator({
      pool: db.pool,
      takeoverSeconds: 0,
      instance: { serviceName: 'shop' },
    });
  }

  async steal(orderId: string, count: number): Promise<void> {
    const stolen = new Set<string>();
    await eventually(async () => {
      for (const table of ['wh_active_streams', 'wh_inbox']) {
        await this.#db.pool.query(
          `update ${table} set lease_expiry = clock_timestamp() where stream_id = $1 and instance_id <> $2`,
          [streamIdOf(orderId), this.coordinator.instance.instanceId],
        );
      }
      const { inbox } = await this.coordinator.processWorkBatch({ maxInboxItems: 10 });
      for (const { messageId } of inbox) stolen.add(messageId);
      expect(stolen.size).toBe(count);
    });
  }
}

describe('A lease that is lost in a shared transaction', inCompany, () => {
  it('a lost lease undoes its shared transaction, and only the other messages run again', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'a2', 'b1', 'c1']);
    const thief = new Thief(db);
    const runs = new Runs();
    let isStolen = false;
    const onPlaced = placing(runs, async ({ orderId }, { tx }) => {
      if (orderId !== 'c' || isStolen || !runs.isShared(tx, 'a1')) return;
      isStolen = true;
      await thief.steal('a', 2);
    });
    await using shop = onePlace(db, [onPlaced]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual(isStolen ? ['a1', 'a2'] : []));
    await shop.stop();
    expect(isStolen).toBe(true);
    expect(runs.sizes[0]).toBeGreaterThan(2);
    expect(runs.orders.filter((id) => id === 'a1')).toHaveLength(1);
    expect(await effectsOf(db)).toEqual(['b1', 'c1']);
    expect(await sentBy(db)).toEqual(['b', 'c']);
  });

  it('a lost lease aborts the running message of its group, and all take effect once', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const thief = new Thief(db);
    const runs = new Runs();
    const reasons: unknown[] = [];
    const onPlaced = placing(runs, async ({ orderId }, { signal, tx }) => {
      if (orderId !== 'c' || reasons.length > 0 || !runs.isShared(tx, 'a1')) return;
      await thief.steal('a', 1);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reasons.push(signal.reason);
      await thief.coordinator.deregister();
    });
    await using shop = onePlace(db, [onPlaced], { leaseSeconds: 2, renewSeconds: 1 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(reasons).toMatchObject([{ code: 'LEASE_LOST' }]);
    expect(await effectsOf(db)).toEqual(['a1', 'b1', 'c1']);
    expect(await sentBy(db)).toEqual(['a', 'b', 'c']);
  });
});

describe('An instance that stops', inCompany, () => {
  it('an instance that must stop at once undoes a shared transaction, and gives all messages back', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const runs = new Runs();
    let hangs = () => {};
    const hung = new Promise<void>((resolve) => (hangs = resolve));
    const onPlaced = placing(runs, ({ orderId }, { signal }) => {
      if (orderId !== 'b') return undefined;
      hangs();
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    const shop = onePlace(db, [onPlaced]);
    await shop.start();
    await hung;
    await shop.stop({ seconds: 0 });
    expect(runs.orders).toEqual(['a1', 'b1']);
    expect(await effectsOf(db)).toEqual([]);
    const { rows } = await db.pool.query('select attempts, instance_id from wh_inbox');
    expect(rows).toEqual(Array.from({ length: 3 }, () => ({ attempts: 0, instance_id: null })));
  });
});
