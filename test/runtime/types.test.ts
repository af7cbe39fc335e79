// What the compiler knows of an instance without being told. `tsc` checks it; nothing here is run.
import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, type Transaction } from 'kysely';
import pg from 'pg';
import { expectTypeOf, it } from 'vitest';
import { createWhizbang, receptor, receptorFor, type Whizbang } from '../../src/index.js';
import { OrderPlaced, PlaceOrder } from './service.js';

const service = 'shop';
const connectionString = 'postgres://shop@localhost/shop';

it('the transaction of an ORM needs no type arguments', () => {
  const unused = () => {
    const db = drizzle(connectionString);
    type DrizzleTx = Parameters<Parameters<typeof db.transaction>[0]>[0];
    const withDrizzle = receptorFor<DrizzleTx>()(OrderPlaced, async (_, ctx) => {
      await ctx.tx.execute('select 1');
    });
    createWhizbang({
      service,
      connectionString,
      receptors: [withDrizzle],
      transaction: (work) => db.transaction(work),
    });

    const kysely = new Kysely<{ orders: { id: string } }>({} as never);
    const withKysely = receptorFor<Transaction<{ orders: { id: string } }>>()(
      OrderPlaced,
      async (order, ctx) => {
        await ctx.tx.insertInto('orders').values({ id: order.orderId }).execute();
      },
    );
    createWhizbang({
      service,
      connectionString,
      receptors: [withKysely],
      transaction: (work) => kysely.transaction().execute(work),
    });

    // @ts-expect-error its receptors would be given a transaction of the pool
    createWhizbang({ service, connectionString, receptors: [withDrizzle] });
    const plain = receptor(OrderPlaced, (_, ctx) => void ctx.tx.query('select 1'));
    createWhizbang({
      service,
      connectionString,
      receptors: [plain],
      // @ts-expect-error it would be given one of Drizzle's
      transaction: (work) => db.transaction(work),
    });
  };
  expectTypeOf(unused).toBeFunction();
});

it('a receptor without a transaction goes into every service', () => {
  const unused = () => {
    const db = drizzle(connectionString);
    type DrizzleTx = Parameters<Parameters<typeof db.transaction>[0]>[0];
    const inside = receptorFor<DrizzleTx>()(OrderPlaced, async (_, ctx) => {
      await ctx.tx.execute('select 1');
    });
    const outside = receptor(PlaceOrder, { transaction: false }, () => {});
    createWhizbang({
      service,
      connectionString,
      receptors: [inside, outside],
      transaction: (work) => db.transaction(work),
    });
    // @ts-expect-error the one inside would be given a transaction of the pool
    createWhizbang({ service, connectionString, receptors: [inside, outside] });
    const shop: Whizbang = createWhizbang({ service, connectionString, receptors: [outside] });
    shop.add(outside).add(receptor(OrderPlaced, () => {}));
  };
  expectTypeOf(unused).toBeFunction();
});

it('createWhizbang takes a pool or a connection string, and needs one of them', () => {
  const unused = () => {
    createWhizbang({ service, pool: new pg.Pool() });
    // @ts-expect-error neither
    createWhizbang({ service });
    // @ts-expect-error an environment variable may not be set
    createWhizbang({ service, connectionString: process.env.DATABASE_URL });
    // @ts-expect-error misspelt
    createWhizbang({ service, connectionString, concurency: 3 });
  };
  expectTypeOf(unused).toBeFunction();
});

it('the events of an instance have their types, and commands are not published', () => {
  const unused = async () => {
    const shop = createWhizbang({ service, connectionString });
    shop.on('deadLetter', (letter) => expectTypeOf(letter.messageId).toEqualTypeOf<string>());
    shop.on('failure', ({ receptor, retryAfterSeconds }) => {
      expectTypeOf(receptor).toEqualTypeOf<string | undefined>();
      expectTypeOf(retryAfterSeconds).toEqualTypeOf<number | undefined>();
    });
    // @ts-expect-error there is no such event
    shop.on('error', () => {});
    // @ts-expect-error it is a command
    await shop.publish(PlaceOrder({ orderId: 'a' }));
  };
  expectTypeOf(unused).toBeFunction();
});

it('a transaction that may be undefined does not compile', () => {
  const unused = async (tx: pg.PoolClient, perhaps: pg.PoolClient | undefined) => {
    const shop = createWhizbang({ service, connectionString });
    await shop.publish(OrderPlaced({ orderId: 'a' }), { tx });
    await shop.publish(OrderPlaced({ orderId: 'a' }), perhaps && { tx: perhaps });
    // @ts-expect-error with exactOptionalPropertyTypes; without, it is refused when it is sent
    await shop.publish(OrderPlaced({ orderId: 'a' }), { tx: perhaps });
    // @ts-expect-error the same for many
    await shop.publish([OrderPlaced({ orderId: 'a' })], { tx: perhaps });
    // @ts-expect-error a receptor with `transaction: false` has none to give
    receptor(PlaceOrder, { transaction: false }, (order, { tx }) => shop.invoke(PlaceOrder(order), { tx }));
  };
  expectTypeOf(unused).toBeFunction();
});
