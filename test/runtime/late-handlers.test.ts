import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

/** Its check takes a while, so that who does not await it has returned before. */
const OrderPaid = defineEvent('OrderPaid', {
  schema: z.object({
    orderId: z.string().refine(async (id) => {
      await new Promise((resolve) => setImmediate(resolve));
      return id !== 'bad';
    }),
  }),
  stream: ({ orderId }) => orderId,
});

describe('Sending that a receptor does not await', () => {
  it('a message is sent though the receptor does not await the sending', async () => {
    await using db = await createTestDatabase();
    const onPlaced = receptor(OrderPlaced, (_, { publish }) => {
      void publish(OrderPaid({ orderId: 'a' }), { delaySeconds: 3_600, holdStream: true });
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    const { rows } = await db.pool.query('select event_type from wh_outbox');
    expect(rows).toEqual([{ event_type: 'OrderPaid' }]);
  });

  it('a receptor fails when a sending that it does not await is refused, and the process lives', async () => {
    await using db = await createTestDatabase();
    const onPlaced = receptor(OrderPlaced, { retry: { attempts: 1 } }, (_, { publish }) => {
      void publish(OrderPaid({ orderId: 'bad' }));
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await eventually(async () =>
      expect(await deadLetters(db)).toMatchObject([{ event_type: 'OrderPlaced' }]),
    );
  });

  it('sending is refused after the receptor has returned', async () => {
    await using db = await createTestDatabase();
    let sendLate = async (): Promise<unknown> => undefined;
    const onPlaced = receptor(OrderPlaced, (_, { send }) => {
      sendLate = () => send(PlaceOrder({ orderId: 'a' }), { to: 'warehouse' });
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    await expect(sendLate()).rejects.toMatchObject({ code: 'DISPOSED' });
  });
});

describe('A receptor whose time is up', () => {
  it('a receptor that waits for a lock is given up when its time is up', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table accounts (id int)');
    const other = await db.connect();
    await other.query('begin; lock table accounts');
    const onPlaced = receptor(
      OrderPlaced,
      { timeoutSeconds: 0.1, retry: { attempts: 1 } },
      async (_, { tx }) => {
        await tx.query('insert into accounts values (1)');
      },
    );
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    const [letter] = await eventually(async () => {
      const letters = await deadLetters(db);
      expect(letters).toHaveLength(1);
      return letters;
    });
    expect(letter?.error).toContain('longer than 0.1 seconds');
    await other.query('rollback');
    await shop.stop();
    await eventually(async () => expect((await db.pool.query('select 1 from accounts')).rows).toEqual([]));
  });
});

describe('A message whose past cannot be read', () => {
  it('a message whose finished receptors cannot be read fails with that error', async () => {
    await using db = await createTestDatabase();
    await db.pool.query(`
      create or replace function whizbang.wh_receptor_records(p_event_id uuid)
      returns table (receptor_name text, is_done boolean, is_given_up boolean, attempts int, wait_seconds double precision, error text)
      language plpgsql as $$ begin raise exception 'permission denied'; end $$`);
    const named = (name: string) => receptor(OrderPlaced, { name }, () => {});
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await using shop = service(db, {
      receptors: [named('first'), named('second')],
      transport: inProcessTransport(),
      retry: { attempts: 1 },
    });
    await shop.start();
    const [letter] = await eventually(async () => {
      const letters = await deadLetters(db);
      expect(letters).toHaveLength(1);
      return letters;
    });
    expect(letter?.error).toContain('permission denied');
  });
});
