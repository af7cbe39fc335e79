// A service that sends to two others, each in a database of its own, of which one is away.
import { expect, it as test } from 'vitest';
import { z } from 'zod';
import { createWhizbang, defineEvent, postgresTransport, receptor, type Whizbang } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { startTcpProxy, type TcpProxy } from '../coordinator/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const schema = z.object({ orderId: z.string(), number: z.number() });
const stream = ({ orderId }: { readonly orderId: string }) => orderId;
const Placed = defineEvent('Placed', { schema, stream });
const Packed = defineEvent('Packed', { schema, stream });

interface Partner {
  readonly handled: string[];
  /** The way of the sender to its database. */
  readonly way: TcpProxy;
}

interface Landscape {
  readonly ledger: Partner;
  readonly shipping: Partner;
  readonly outbox: () => Promise<readonly { readonly attempts: number; readonly error: string | null }[]>;
  readonly startShop: () => Promise<Whizbang>;
}

/** `ledger` handles Placed; `shipping` handles Placed and Packed. */
const it = test.extend<{ landscape: Landscape }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from it
  landscape: async ({}, use) => {
    const ends: (() => Promise<unknown>)[] = [];
    const keep = <T extends AsyncDisposable>(made: T): T => {
      ends.push(async () => made[Symbol.asyncDispose]());
      return made;
    };
    const own = keep(await createTestDatabase());
    const partner = async (service: string, database: TestDatabase, types: readonly (typeof Placed)[]) => {
      const handled: string[] = [];
      const way = keep(await startTcpProxy(database.connectionString));
      const receptors = types.map((type) =>
        receptor(type, async ({ orderId, number }) => void handled.push(`${orderId}/${number}`)),
      );
      const { connectionString } = database;
      const instance = createWhizbang({ service, connectionString, receptors, logger: silentLogger });
      ends.push(() => instance.stop());
      await instance.start();
      return { handled, way };
    };
    const ledger = await partner('ledger', keep(await createTestDatabase()), [Placed]);
    const shipping = await partner('shipping', keep(await createTestDatabase()), [
      Placed,
      Packed as unknown as typeof Placed,
    ]);
    const { connectionString } = own;
    const databases = {
      ledger: { connectionString: ledger.way.connectionString },
      shipping: { connectionString: shipping.way.connectionString },
    };
    await use({
      ledger,
      shipping,
      outbox: async () => (await own.pool.query('select attempts, error from wh_outbox')).rows,
      startShop: async () => {
        const transport = postgresTransport({ databases });
        const shop = createWhizbang({ service: 'shop', connectionString, transport, logger: silentLogger });
        ends.push(() => shop.stop());
        return shop.start();
      },
    });
    for (const end of ends.reverse()) await end();
  },
});

const goAway = ({ way }: Partner) => {
  way.hangUpOn = Number.POSITIVE_INFINITY;
  way.cut();
};
const comeBack = ({ way }: Partner) => {
  way.hangUpOn = 0;
};
const order = (orderId: string, ...numbers: number[]) => numbers.map((number) => Placed({ orderId, number }));

it('an event for two databases waits for the one that is known to be away, and then reaches each once', async ({
  landscape: { ledger, shipping, outbox, startShop },
}) => {
  const shop = await startShop();
  await shop.publish([...order('a', 1), Packed({ orderId: 'p', number: 1 })]);
  await eventually(() => expect([ledger.handled, shipping.handled.length]).toEqual([['a/1'], 2]));

  goAway(ledger);
  await shop.publish(order('a', 2));
  await eventually(async () =>
    expect(await outbox()).toMatchObject([
      { attempts: 0, error: expect.stringContaining('databases.ledger') },
    ]),
  );
  await shop.publish([...order('b', 1, 2), Packed({ orderId: 'p', number: 2 })]);
  // What only the other database listens to goes on.
  await eventually(() => expect(shipping.handled).toContain('p/2'));
  expect(shipping.handled.filter((each) => each.startsWith('b'))).toEqual([]);

  comeBack(ledger);
  for (const { handled } of [ledger, shipping]) {
    await eventually(() => expect(of('b', handled)).toEqual(['b/1', 'b/2']));
    await eventually(() => expect(of('a', handled)).toEqual(['a/1', 'a/2']));
  }
  await eventually(async () => expect(await outbox()).toEqual([]));
});

it('an event reaches one of two databases while the other fails at it, and in the end each once', async ({
  landscape: { ledger, shipping, outbox, startShop },
}) => {
  const shop = await startShop();
  await shop.publish(order('a', 1));
  await eventually(() => expect([ledger.handled, shipping.handled]).toEqual([['a/1'], ['a/1']]));

  // Until a delivery fails nobody knows that it is away.
  goAway(ledger);
  await shop.publish(order('a', 2, 3));
  await eventually(() => expect(shipping.handled).toContain('a/2'));
  expect(ledger.handled).toEqual(['a/1']);

  comeBack(ledger);
  for (const { handled } of [ledger, shipping])
    await eventually(() => expect(handled).toEqual(['a/1', 'a/2', 'a/3']));
  await eventually(async () => expect(await outbox()).toEqual([]));
});

it('an instance that starts while a database is away lets all events wait, until it was there once', async ({
  landscape: { ledger, shipping, outbox, startShop },
}) => {
  goAway(ledger);
  const shop = await startShop();
  // The ledger does not listen to it, but the instance cannot know.
  await shop.publish(Packed({ orderId: 'p', number: 1 }));
  await eventually(async () =>
    expect(await outbox()).toMatchObject([
      { attempts: 0, error: expect.stringContaining('databases.ledger') },
    ]),
  );
  expect(shipping.handled).toEqual([]);
  expect(shop.readiness.transport).toBe(true);

  comeBack(ledger);
  await eventually(() => expect(shipping.handled).toEqual(['p/1']));
  goAway(ledger);
  await shop.publish(Packed({ orderId: 'p', number: 2 }));
  await eventually(() => expect(shipping.handled).toEqual(['p/1', 'p/2']));
});

const of = (orderId: string, handled: readonly string[]) =>
  handled.filter((each) => each.startsWith(`${orderId}/`));
