import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { describeTransport } from './conformance.js';
import { createServices, postgresSubject } from './postgres-services.js';
import { ids, message, never, stream, World } from './world.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createServices();
});
afterAll(() => db.drop());

describeTransport('postgres', () => postgresSubject(db), {
  deliveries:
    'it delivers nothing: the sender puts the rows into the inbox, and leases take the place of acknowledgements',
  unreadableContent: 'what is not a message cannot be a row of the outbox',
  crash: 'its sockets are those of the pool: crashes of instances are tried in test/crashes',
  dropMiddleOf: 'a batch is one statement: all of it is committed, or nothing',
  sizeLimit: 'a row has no limit that a message reaches',
  foreignEvents: 'a foreign program inserts a row',
  states: 'its broker is the database, of which the instance tells by itself',
  anyName: 'a service is a schema, which is there beforehand',
});

describe('The PostgreSQL transport', () => {
  const rowsOf = async (table: string) => (await db.pool.query(`select * from ${table}`)).rows;

  it('the PostgreSQL transport completes the outbox rows with the same statement', async () => {
    await using world = new World(await postgresSubject(db));
    const shop = await world.join('shop');
    await world.listen('orders');

    expect(await shop.send(...stream('orders', 2))).toEqual([{ kind: 'settled' }, { kind: 'settled' }]);

    expect(await rowsOf('shop.wh_outbox')).toEqual([]);
    expect(await rowsOf('orders.wh_inbox')).toHaveLength(2);
  });

  it('the PostgreSQL transport leaves alone what the instance does not hold, and reports it as lost', async () => {
    const subject = await postgresSubject(db);
    await using world = new World(subject);
    const [holder, zombie] = [await world.join('shop'), await world.join('shop')];
    await world.listen('orders');
    const messages = stream('orders', 2);
    await holder.instance.hold?.(messages);

    const lost = messages.map(() => ({ kind: 'settled', lost: true }));
    expect(await zombie.connection.send(messages, never)).toEqual(lost);

    expect(await rowsOf('shop.wh_outbox')).toHaveLength(2);
    expect(await rowsOf('orders.wh_inbox')).toEqual([]);
    await holder.sendAll(...messages);
    await world.untilStored('orders', messages);
  });

  it('the PostgreSQL transport reports a message that was settled before as lost', async () => {
    await using world = new World(await postgresSubject(db));
    const shop = await world.join('shop');
    await world.listen('orders');
    const sent = message('orders');
    await shop.sendAll(sent);

    expect(await shop.connection.send([sent], never)).toEqual([{ kind: 'settled', lost: true }]);
    await world.untilStored('orders', [sent]);
  });

  it('the PostgreSQL transport subscribes when it is to receive, and delivers nothing itself', async () => {
    await using world = new World(await postgresSubject(db));
    const orders = await world.join('orders');
    expect(await rowsOf('orders.wh_subscriptions')).toEqual([]);

    await orders.listen({ listensTo: ['orders', 'Order, "placed"'] });
    const sent = message('Order, "placed"');
    await orders.sendAll(sent);

    await world.untilStored('orders', [sent]);
    expect(orders.deliveries).toEqual([]);
    const addresses = (await rowsOf('orders.wh_subscriptions')).map(({ address }) => address);
    expect(addresses.toSorted()).toEqual(['Order, "placed"', 'orders']);
  });

  it('the PostgreSQL transport blames no message when the database is read-only, and is not ready', async () => {
    const subject = await postgresSubject(db);
    await using world = new World(subject);
    const pool = new pg.Pool({
      connectionString: db.connectionString,
      options: '-c default_transaction_read_only=on',
    });
    const shop = await subject.joinWith('shop', { pool });
    const sent = message('orders');
    await shop.hold?.([sent]);

    const unavailable = { code: 'TRANSPORT_UNAVAILABLE', cause: { code: 'READ_ONLY_DATABASE' } };
    await expect(shop.connection.send([sent], never)).rejects.toMatchObject(unavailable);
    let looks = 0;
    pool.on('acquire', () => looks++);
    const ended = expect(shop.connection.ready(never)).rejects.toMatchObject({ code: 'DISPOSED' });
    await eventually(() => expect(looks).toBeGreaterThan(1)); // a second look: the first did not satisfy it
    await shop.connection.close();

    await ended;
    await pool.end();
    expect(await rowsOf('shop.wh_outbox')).toHaveLength(1);
    expect(ids(await world.stored('orders'))).toEqual([]);
  });

  it('the PostgreSQL transport stops waiting when the signal aborts, and closes after its statement', async () => {
    const subject = await postgresSubject(db);
    await using world = new World(subject);
    const shop = await world.join('shop');
    await world.listen('orders');
    const sent = message('orders');
    await shop.instance.hold?.([sent]);
    const stopping = new AbortController();
    const reason = new Error('stopping');
    let isClosed = false;
    let closing: Promise<void> | undefined;

    await subject.whileTransferWaits(
      () => expect(shop.connection.send([sent], stopping.signal)).rejects.toBe(reason),
      async () => {
        stopping.abort(reason);
        closing = shop.connection.close().then(() => {
          isClosed = true;
        });
        await db.pool.query('select 1');
        expect(isClosed).toBe(false);
      },
    );

    await closing;
    await world.untilStored('orders', [sent]);
  });

  it('the PostgreSQL transport reports NOT_MIGRATED when a schema is missing', async () => {
    await using world = new World(await postgresSubject(db));
    const orders = await world.join('orders');
    await db.pool.query('alter schema orders rename to elsewhere');
    try {
      const receiving = orders.connection.receive({ addresses: ['orders'], prefetch: 1 }, () => {});
      await expect(receiving).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
      const [outcome] = await orders.connection.send([message('orders', { streamId: randomUUID() })], never);
      expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'NOT_MIGRATED' } });
    } finally {
      await db.pool.query('alter schema elsewhere rename to orders');
    }
  });
});
