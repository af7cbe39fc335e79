import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { decider, defineCommand, FinalError, newMessageId, receptor } from '../../src/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Order, OrderCancelled, OrderPaid, OrderPlaced, paid, placed } from './shop.js';

/** A counter that stops at a limit: only as many decisions as that may be taken. */
const Seats = decider('Seats', { initial: { taken: 0 } }).on(OrderPlaced, ({ taken }) => ({
  taken: taken + 1,
}));

describe('events.load', () => {
  it('the state of a stream is folded from its events, and has its version', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    expect(await shop.events.load(Order, 'a')).toEqual({ state: Order.initial, version: 0 });
    await shop.events.append([placed('a', 250), paid('a', 250)]);
    const loaded = await shop.events.load(Order, 'a');
    expect(loaded).toEqual({ state: { status: 'paid', cents: 250, changes: 2 }, version: 2 });
  });

  it('a stream of more events than a page is folded to its end', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(Array.from({ length: 1_100 }, () => placed('a')));
    expect(await shop.events.load(Seats, 'a')).toEqual({ state: { taken: 1_100 }, version: 1_100 });
  });

  it('an event that the decider does not know is refused: half a state decides wrongly', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), OrderCancelled({ orderId: 'a' })]);
    await expect(shop.events.load(Order, 'a')).rejects.toMatchObject({
      code: 'UNKNOWN_EVENT',
      details: { name: 'Order', type: 'OrderCancelled', version: 2 },
    });
  });
});

describe('events.decide', () => {
  it('what is decided is appended behind the state that it was decided on', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a', 250));
    const receipt = await shop.events.decide(Order, 'a', ({ status, cents }) => {
      if (status !== 'placed') throw new FinalError('not to be paid');
      return paid('a', cents);
    });
    expect(receipt).toMatchObject({ version: 2, receipts: [{ version: 2 }] });
    const again = shop.events.decide(Order, 'a', ({ status }) => {
      if (status !== 'placed') throw new FinalError('not to be paid');
    });
    await expect(again).rejects.toThrow('not to be paid');
    expect((await shop.events.load(Order, 'a')).version).toBe(2);
  });

  it('a decision on nothing appends nothing, and answers with the version of the stream', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'));
    expect(await shop.events.decide(Order, 'a', () => undefined)).toMatchObject({ version: 1, receipts: [] });
    expect(await shop.events.decide(Order, 'a', () => [])).toMatchObject({ version: 1, receipts: [] });
  });

  it.each(['alone', 'in transactions'])(
    'sixteen deciders at once, %s, take as many decisions as are allowed',
    async (how) => {
      await using db = await createTestDatabase();
      await using shop = service(db);
      const decide = (tx?: object) =>
        shop.events.decide(
          Seats,
          'a',
          ({ taken }) => {
            if (taken >= 5) throw new FinalError('full');
            return placed('a');
          },
          tx === undefined ? {} : { tx },
        );
      const inTransaction = async () => {
        const client = await db.pool.connect();
        try {
          await client.query('begin');
          const receipt = await decide(client);
          await client.query('commit');
          return receipt;
        } catch (error) {
          await client.query('rollback');
          throw error;
        } finally {
          client.release();
        }
      };
      const results = await Promise.allSettled(
        Array.from({ length: 16 }, () => (how === 'alone' ? decide() : inTransaction())),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
      expect((await shop.events.load(Seats, 'a')).state.taken).toBe(5);
    },
  );

  it('two decisions on one stream in one transaction both hold', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const client = await db.connect();
    await client.query('begin');
    await shop.events.decide(Order, 'a', () => placed('a'), { tx: client });
    const second = await shop.events.decide(
      Order,
      'a',
      ({ status }) => (status === 'placed' ? paid('a') : []),
      {
        tx: client,
      },
    );
    expect(second.version).toBe(2);
    await client.query('commit');
    expect((await shop.events.load(Order, 'a')).state.status).toBe('paid');
  });

  it('an event of another stream, or one that the decider does not know, is refused', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await expect(shop.events.decide(Order, 'a', () => placed('b'))).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      details: { type: 'OrderPlaced' },
    });
    const unknown = shop.events.decide(Order, 'a', () => OrderCancelled({ orderId: 'a' }));
    await expect(unknown).rejects.toMatchObject({
      code: 'UNKNOWN_EVENT',
      details: { type: 'OrderCancelled' },
    });
    expect((await shop.events.load(Order, 'a')).version).toBe(0);
  });

  it('events of a decision have the name of the decider as their aggregate type', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.decide(Order, 'a', () => placed('a'));
    await shop.events.append(paid('a'));
    const { rows } = await db.pool.query('select aggregate_type from wh_event_store order by version');
    expect(rows).toEqual([{ aggregate_type: 'Order' }, { aggregate_type: 'OrderPaid' }]);
  });

  it('ctx.decide of a receptor appends in its transaction, and the events continue its message', async () => {
    await using db = await createTestDatabase();
    const Pay = defineCommand('Pay', {
      schema: z.object({ orderId: z.string() }),
      stream: ({ orderId }) => orderId,
    });
    const pay = receptor(Pay, { retry: { firstDelaySeconds: 0.01 } }, async ({ orderId }, ctx) => {
      await ctx.decide(Order, orderId, ({ cents }) => paid(orderId, cents));
      if (ctx.attempt === 1) throw new Error('after the decision');
    });
    await using shop = service(db, { receptors: [pay] });
    await shop.events.append(placed('a', 70));
    await shop.start();
    const messageId = await shop.send(Pay({ orderId: 'a' }));
    await eventually(async () => expect((await shop.events.load(Order, 'a')).version).toBe(2));
    for await (const event of shop.events.stream('a', { after: 1 })) {
      expect(event.is(OrderPaid) && event.payload.cents).toBe(70);
      expect(event.causationId).toBe(messageId);
    }
  });
});

describe('snapshots', () => {
  it('a load reads the kept state and only the events after it', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const Kept = decider('Kept', { initial: { taken: 0 }, snapshotEvery: 3 }).on(
      OrderPlaced,
      ({ taken }) => ({
        taken: taken + 1,
      }),
    );
    for (let i = 0; i < 7; i++) await shop.events.decide(Kept, 'a', () => placed('a'));
    const { rows } = await db.pool.query('select version::int, state from wh_snapshots');
    expect(rows).toEqual([{ version: 6, state: { taken: 6 } }]);
    await db.pool.query(`update wh_snapshots set state = '{"taken": 100}'`); // to see that it is read
    expect(await shop.events.load(Kept, 'a')).toEqual({ state: { taken: 101 }, version: 7 });
  });

  it('a kept state of other code is not used', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const options = { initial: { taken: 0 }, snapshotEvery: 1 };
    const first = decider('Kept', options).on(OrderPlaced, ({ taken }) => ({ taken: taken + 1 }));
    await shop.events.decide(first, 'a', () => placed('a'));
    const changed = decider('Kept', options).on(OrderPlaced, ({ taken }) => ({ taken: taken + 10 }));
    expect((await shop.events.load(changed, 'a')).state).toEqual({ taken: 10 });
    const raised = decider('Kept', { ...options, foldVersion: 2 }).on(OrderPlaced, ({ taken }) => ({
      taken: taken + 1,
    }));
    expect(raised.fold).not.toBe(first.fold);
  });

  it('a state that JSON cannot hold is not kept, with one warning, and decisions go on', async () => {
    await using db = await createTestDatabase();
    const warnings: string[] = [];
    const nothing = () => undefined;
    const logger = {
      debug: nothing,
      info: nothing,
      warn: (_: object, text: string) => warnings.push(text),
      error: nothing,
    };
    await using shop = service(db, { logger: logger as never });
    const WithDate = decider('WithDate', { initial: { at: null as Date | null }, snapshotEvery: 1 }).on(
      OrderPaid,
      (_, { paidAt }) => ({ at: paidAt }),
    );
    for (let i = 0; i < 3; i++) await shop.events.decide(WithDate, 'a', () => paid('a'));
    // As ctx.decide of a receptor does.
    const parent = { messageId: newMessageId(), hops: [], traceparent: '' } as never;
    await shop.events.continuing(parent).decide(WithDate, 'a', () => paid('a'));
    expect((await shop.events.load(WithDate, 'a')).state.at).toEqual(new Date('2026-11-17T08:00:00Z'));
    expect(warnings).toEqual(['The state of a decider cannot be kept: it is not the same after JSON']);
  });
});
