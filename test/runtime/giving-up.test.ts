// What happens when a message is given up: onGivenUp of its receptor, in the transaction that buries it.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, FinalError, receptor, type WhizbangEvents } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { failing, OrderFailed } from './failing-orders.js';
import { PlaceOrder, service } from './service.js';

const stream = ({ orderId }: { readonly orderId: string }) => orderId;
const CountOrders = defineCommand('CountOrders', {
  schema: z.object({ orderId: z.string() }),
  result: z.number(),
  stream,
});

const isEmpty = (db: TestDatabase) =>
  eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));

describe('onGivenUp', () => {
  it('onGivenUp is called once after the last attempt, and what it returns continues the message', async () => {
    await using db = await createTestDatabase();
    const { shop, runs, failures, errors } = failing(db);
    await using _shop = shop;
    await shop.start();
    const scope = { tenant: 't1' };
    const messageId = await shop.send(PlaceOrder({ orderId: 'a' }), { scope, correlationId: 'c1' });
    await eventually(async () => expect(failures).toHaveLength(1));
    await isEmpty(db);
    expect(runs).toEqual(['a0 1', 'a0 2, the last', 'given up a after 2']);
    const [{ reason, envelope }] = failures as [(typeof failures)[number]];
    expect(reason).toBe('no card');
    expect(envelope).toMatchObject({ scope, correlationId: 'c1', causationId: messageId });
    expect(errors[0]).toBeInstanceOf(Error);
    expect(errors[0]).toMatchObject({ name: 'Error', message: 'no card' });
    const letters = await deadLetters(db);
    expect(letters).toEqual([
      { event_type: 'PlaceOrder', attempts: 2, error: expect.stringMatching(/^Error: no card\n/) },
    ]);
  });

  it('onGivenUp is called at once when the error is final', async () => {
    await using db = await createTestDatabase();
    const { shop, runs, failures, errors } = failing(db, { thrown: () => new FinalError('never') });
    await using _shop = shop;
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(async () => expect(failures).toHaveLength(1));
    expect(runs).toEqual(['a0 1', 'given up a after 1']);
    expect(errors[0]?.message).toBe('never');
  });

  it('onGivenUp is called when the last attempt has timed out, with the code of the error', async () => {
    await using db = await createTestDatabase();
    const options = { timeoutSeconds: 0.2, retry: { attempts: 1 } };
    const { shop, runs, failures, errors } = failing(db, { options });
    await using _shop = shop;
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(async () => expect(failures).toHaveLength(1));
    expect(runs).toEqual(['a0 1, the last', 'given up a after 1']);
    expect(errors[0]).toMatchObject({
      code: 'HANDLER_TIMEOUT',
      message: 'The receptor ran longer than 0.2 seconds.',
    });
  });

  it('onGivenUp is called for a message whose instances kept dying, and its handler is not', async () => {
    await using db = await createTestDatabase();
    const { shop, runs, failures, errors } = failing(db);
    const dead = service(db);
    await dead.coordinator.processWorkBatch({
      newInboxMessages: [
        {
          messageId: '01900000-0000-7000-8000-000000000001',
          handlerName: 'PlaceOrder',
          eventType: 'PlaceOrder',
          eventData: { orderId: 'a' },
        },
      ],
      inboxHandlers: ['PlaceOrder'],
    });
    await db.pool.query(`update wh_inbox set interruptions = 2, lease_expiry = clock_timestamp()`);
    await db.pool.query(`update wh_active_streams set lease_expiry = clock_timestamp()`);
    await using _shop = shop;
    await shop.start();
    await eventually(async () => expect(failures).toHaveLength(1));
    expect(runs).toEqual(['given up a after 1']);
    expect(errors[0]).toMatchObject({ code: 'LEASE_LOST' });
    await dead.stop();
  });

  it('onGivenUp of a receptor without a transaction has one: its writes and the dead letter commit together', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table refunds (order_id text)');
    const letters: number[] = [];
    const { shop, failures } = failing(db, {
      options: { transaction: false },
      beforeIt: async ({ tx }) => {
        await tx.query(`insert into refunds values ('a')`);
        letters.push((await deadLetters(db)).length);
      },
    });
    await using _shop = shop;
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(async () => expect(failures).toHaveLength(1));
    expect(letters).toEqual([0]);
    expect((await db.pool.query('select * from refunds')).rows).toEqual([{ order_id: 'a' }]);
    expect(await deadLetters(db)).toHaveLength(1);
  });

  it('onGivenUp that throws is called again later: its message stays, nothing of it is kept, the log says so', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table refunds (order_id text)');
    const logged: [object, string][] = [];
    const logger = {
      ...silentLogger,
      error: (facts: object, text: string) => void logged.push([facts, text]),
    };
    let calls = 0;
    const { shop, runs, failures, errors } = failing(db, {
      logger,
      beforeIt: async ({ tx }) => {
        await tx.query(`insert into refunds values ('a')`);
        if (++calls < 3) throw new Error(`no refund ${calls}`);
      },
    });
    await using _shop = shop;
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(async () => expect(failures).toHaveLength(1));
    expect(runs).toEqual(['a0 1', 'a0 2, the last', ...Array(3).fill('given up a after 2')]);
    expect(errors.map(({ message }) => message)).toEqual(Array(3).fill('no card'));
    expect((await db.pool.query('select * from refunds')).rows).toHaveLength(1);
    expect(await deadLetters(db)).toMatchObject([{ attempts: 2, error: expect.stringContaining('no card') }]);
    const said = logged.filter(([, text]) => text.startsWith('onGivenUp failed'));
    expect(said.map(([facts]) => facts)).toEqual([
      expect.objectContaining({ type: 'PlaceOrder', error: expect.stringContaining('no refund 1') }),
      expect.objectContaining({ type: 'PlaceOrder', error: expect.stringContaining('no refund 2') }),
    ]);
  });

  it('onGivenUp has run before the next message of its stream is handled', async () => {
    await using db = await createTestDatabase();
    let calls = 0;
    const { shop, runs } = failing(db, {
      beforeIt: async () => {
        if (++calls < 2) throw new Error('not yet');
      },
    });
    await using _shop = shop;
    await shop.start();
    await shop.send([PlaceOrder({ orderId: 'a' }), PlaceOrder({ orderId: 'a', step: 1 })]);
    await isEmpty(db);
    expect(runs).toEqual(['a0 1', 'a0 2, the last', 'given up a after 2', 'given up a after 2', 'a1 1']);
  });

  it('the event deadLetter comes when the dead letter is written', async () => {
    await using db = await createTestDatabase();
    const { shop } = failing(db);
    await using _shop = shop;
    const told: { notice: WhizbangEvents['deadLetter'][0]; letters: Promise<unknown[]> }[] = [];
    shop.on('deadLetter', (notice) => told.push({ notice, letters: deadLetters(db) }));
    await shop.start();
    const messageId = await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(async () => expect(told).toHaveLength(1));
    expect(told[0]?.notice).toMatchObject({ messageId, receptor: 'PlaceOrder', attempt: 2, source: 'inbox' });
    expect(await told[0]?.letters).toHaveLength(1);
  });

  it('onGivenUp is not called for a payload that cannot be read: it becomes a dead letter', async () => {
    await using db = await createTestDatabase();
    const { shop, runs } = failing(db);
    await using _shop = shop;
    await shop.start();
    await arrive(db, 'PlaceOrder', { orderId: 'a', step: 'one' });
    await eventually(async () => expect(await deadLetters(db)).toHaveLength(1));
    expect(runs).toEqual([]);
  });

  it('onGivenUp of a command with a result sends what it returns', async () => {
    await using db = await createTestDatabase();
    const reasons: string[] = [];
    const count = receptor(
      CountOrders,
      {
        retry: { attempts: 1 },
        onGivenUp: ({ orderId }, _ctx, { message }) => [OrderFailed({ orderId, reason: message })],
      },
      () => {
        throw new Error('cannot count');
      },
    );
    const failed = receptor(OrderFailed, ({ reason }) => void reasons.push(reason));
    await using shop = service(db, { receptors: [count, failed] });
    await shop.start();
    await shop.send(CountOrders({ orderId: 'a' }));
    await eventually(async () => expect(reasons).toEqual(['cannot count']));
  });

  it('a message that was given up is buried by an instance whose receptor has no onGivenUp any more', async () => {
    await using db = await createTestDatabase();
    const before = failing(db, { beforeIt: async () => Promise.reject(new Error('broken')) });
    await before.shop.start();
    await before.shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(async () => expect(before.errors.length).toBeGreaterThan(0));
    await before.shop.stop();
    let runs = 0;
    await using shop = service(db, { receptors: [receptor(PlaceOrder, () => void runs++)] });
    await shop.start();
    await eventually(async () => expect(await deadLetters(db)).toHaveLength(1));
    expect(runs).toBe(0);
    expect(await deadLetters(db)).toMatchObject([{ attempts: 2, error: expect.stringContaining('no card') }]);
  });
});
