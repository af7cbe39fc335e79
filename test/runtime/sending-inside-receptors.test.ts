import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor, type Sender, type Whizbang } from '../../src/index.js';
import { newMessageId } from '../../src/message-id.js';
import type { Envelope } from '../../src/messages/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const scope = { tenant: 'acme' };
const traceOf = ({ traceparent }: Envelope) => traceparent.split('-')[1];

/** A function of the domain, which knows nothing of receptors: it sends with whatever it is given. */
async function place(sender: Sender, orderId: string, options: { tx?: object } = {}): Promise<string> {
  await Promise.resolve();
  return sender.publish(OrderPlaced({ orderId }), options);
}

describe('What is sent inside a receptor', () => {
  const ways: Record<string, (shop: Whizbang, ctx: Sender & { readonly tx: object }) => Promise<unknown>> = {
    'the instance, with ctx.tx': (shop, ctx) => place(shop, 'a', { tx: ctx.tx }),
    'the instance, without a transaction': (shop) => place(shop, 'a'),
    'a scope': async (shop) => {
      await using scoped = shop.scope();
      await place(scoped, 'a');
    },
    'ctx, with ctx.tx': (_, ctx) => place(ctx, 'a', { tx: ctx.tx }),
    ctx: (_, ctx) => place(ctx, 'a'),
    'an invoked receptor': (shop, { tx }) => shop.invoke(PlaceOrder({ orderId: 'a', step: 7 }), { tx }),
  };
  for (const [way, send] of Object.entries(ways)) {
    it(`what is sent through ${way} continues the message that is handled`, async () => {
      await using db = await createTestDatabase();
      const seen: { command?: Envelope; event?: Envelope } = {};
      const onPlace = receptor(PlaceOrder, async ({ orderId, step }, ctx) => {
        if (step === 7) return OrderPlaced({ orderId });
        seen.command = ctx.envelope;
        await send(shop, ctx);
        return undefined;
      });
      const onPlaced = receptor(OrderPlaced, (_, { envelope }) => {
        seen.event = envelope;
      });
      await using shop = service(db, { receptors: [onPlace, onPlaced], transport: inProcessTransport() });
      await shop.start();
      const id = await shop.send(PlaceOrder({ orderId: 'a' }), { scope });
      await eventually(() => expect(seen.event).toBeDefined());
      const { command, event } = seen as { command: Envelope; event: Envelope };
      const isInvoked = way === 'an invoked receptor';
      expect(event).toMatchObject({ correlationId: id, scope });
      expect(event.causationId === id).toBe(!isInvoked); // else by the command that was invoked
      expect(traceOf(event)).toBe(traceOf(command));
    });
  }

  it('an event that is appended inside a receptor continues the message that is handled', async () => {
    await using db = await createTestDatabase();
    const onPlace = receptor(PlaceOrder, async ({ orderId }, { tx }) => {
      await shop.events.append(OrderPlaced({ orderId }), { tx });
    });
    await using shop = service(db, { receptors: [onPlace], transport: inProcessTransport() });
    await shop.start();
    const id = await shop.send(PlaceOrder({ orderId: 'a' }), { scope });
    const stored = () => db.pool.query('select metadata, scope from wh_event_store');
    await eventually(async () =>
      expect((await stored()).rows).toMatchObject([
        { metadata: { correlationId: id, causationId: id }, scope },
      ]),
    );
  });

  it('what a listener sends is no part of the receptor whose call handed the work out', async () => {
    await using db = await createTestDatabase();
    const later: Envelope[] = [];
    const onPlace = receptor(PlaceOrder, async ({ orderId, step }, { envelope }) => {
      if (step === 2) later.push(envelope);
      else await shop.publish(OrderPlaced({ orderId: `${orderId}-other` }));
    });
    const onPlaced = receptor(OrderPlaced, { transaction: false, retry: { attempts: 1 } }, () => {
      throw new Error('no');
    });
    await using shop = service(db, { receptors: [onPlace, onPlaced], transport: inProcessTransport() });
    shop.on('deadLetter', () => void shop.send(PlaceOrder({ orderId: 'alarm', step: 2 })));
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }), { scope });
    await eventually(() => expect(later).toMatchObject([{ causationId: null, scope: null }]));
  });
});

describe('ctx as a Sender', () => {
  it('ctx returns the ids of what it sends, takes ids, and can leave the stream', async () => {
    await using db = await createTestDatabase();
    const given = newMessageId();
    const ids: unknown[] = [];
    const onPlace = receptor(PlaceOrder, async ({ orderId }, ctx) => {
      ids.push(await ctx.publish(OrderPlaced({ orderId }), { messageId: given, stream: null }));
      ids.push(await ctx.publish([OrderPlaced({ orderId })], { scope: { tenant: 'other' } }));
    });
    const events: Envelope[] = [];
    const onPlaced = receptor(OrderPlaced, (_, { envelope }) => void events.push(envelope));
    await using shop = service(db, { receptors: [onPlace, onPlaced], transport: inProcessTransport() });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }), { scope });
    await eventually(() => expect(events).toHaveLength(2));
    const without = events.find(({ messageId }) => messageId === given);
    const withStream = events.find(({ messageId }) => messageId !== given);
    expect(without).toMatchObject({ streamId: null, scope });
    expect(withStream).toMatchObject({ streamId: expect.any(String), scope: { tenant: 'other' } });
    expect(ids).toEqual([given, [withStream?.messageId]]);
  });

  it('ctx refuses a transaction that is not its own', async () => {
    await using db = await createTestDatabase();
    const refusals: unknown[] = [];
    const onPlace = receptor(PlaceOrder, async (_, ctx) => {
      for (const tx of [{ query: async () => ({ rows: [] }) }, undefined as never]) {
        refusals.push(await ctx.publish(OrderPlaced({ orderId: 'a' }), { tx }).catch((error) => error));
      }
      throw new Error('enough');
    });
    await using shop = service(db, {
      receptors: [onPlace],
      retry: { attempts: 1 },
      transport: inProcessTransport(),
    });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    const refusal = { code: 'INVALID_OPTION', details: { option: 'tx' } };
    await eventually(() => expect(refusals).toMatchObject([refusal, refusal]));
  });
});
