import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Invocation } from '../../src/dispatch/index.js';
import { streamIdOf } from '../../src/messages/index.js';
import { refusalOf } from '../messages/refusal.js';
import { openShop, PlaceOrder, PriceOf } from './shop.js';

describe('Invoking a command', () => {
  it('invoke returns what the receptor returned, with its type', async () => {
    const { dispatcher } = openShop({ invoker: async () => ({ total: 5 }) });
    const price = await dispatcher.invoke(PriceOf({ orderId: 'a' }));
    expectTypeOf(price).toEqualTypeOf<{ total: number }>();
    expect(price).toEqual({ total: 5 });
  });

  it('invoke returns nothing for a command without a result', async () => {
    const { dispatcher } = openShop({ invoker: async () => [PlaceOrder({ orderId: 'sent on' })] });
    const nothing = await dispatcher.invoke(PlaceOrder({ orderId: 'a' }));
    expectTypeOf(nothing).toEqualTypeOf<void>();
    expect(nothing).toBeUndefined();
  });

  it('invoke gives the receptor the payload in an envelope, with what call and parent say', async () => {
    const invocations: Invocation[] = [];
    const shop = openShop({ invoker: async (invocation) => void invocations.push(invocation) });
    const tx = {};
    const { signal } = new AbortController();
    await shop.dispatcher.invoke(PlaceOrder({ orderId: 'a' }), { tx, signal, correlationId: 'request-7' });
    const [first] = invocations as [Invocation];
    expect(first).toMatchObject({
      definition: PlaceOrder,
      envelope: {
        type: 'PlaceOrder',
        payload: { orderId: 'a' },
        streamId: streamIdOf('a'),
        correlationId: 'request-7',
      },
    });
    expect(first.tx).toBe(tx);
    expect(first.signal).toBe(signal);

    const within = openShop({ parent: first.envelope, invoker: async (next) => void invocations.push(next) });
    await within.dispatcher.invoke(PlaceOrder({ orderId: 'b' }));
    expect(invocations[1]?.envelope).toMatchObject({
      causationId: first.envelope.messageId,
      correlationId: 'request-7',
    });
    expect([...shop.calls, ...within.calls]).toEqual([]);
  });

  it('invoke refuses a transaction that is undefined, and runs nothing', async () => {
    const ran: Invocation[] = [];
    const shop = openShop({ invoker: async (invocation) => void ran.push(invocation) });
    const lost = { tx: undefined } as object;
    const invoke = () => shop.dispatcher.invoke(PlaceOrder({ orderId: 'a' }), lost);
    expect((await refusalOf(invoke, 'INVALID_OPTION')).details.option).toBe('tx');
    expect(ran).toEqual([]);
  });

  it('invoke refuses a bad payload before the receptor runs', async () => {
    const ran: Invocation[] = [];
    const invoker = async (invocation: Invocation) => void ran.push(invocation);
    const command = PlaceOrder({ orderId: 5 as unknown as string });
    await refusalOf(() => openShop({ invoker }).dispatcher.invoke(command), 'INVALID_MESSAGE');
    expect(ran).toEqual([]);
  });

  it('invoke refuses a result that does not fit its schema', async () => {
    const { dispatcher } = openShop({ invoker: async () => ({ total: 'five' }) });
    const error = await refusalOf(() => dispatcher.invoke(PriceOf({ orderId: 'a' })), 'INVALID_MESSAGE');
    expect(error.message).toContain('The result of PriceOf: total: ');
  });

  it('invoke rejects with the error of the receptor', async () => {
    const failure = new Error('sold out');
    const { dispatcher } = openShop({ invoker: () => Promise.reject(failure) });
    await expect(dispatcher.invoke(PriceOf({ orderId: 'a' }))).rejects.toBe(failure);
  });

  it('invoke is refused where nothing can run the command, and with options of sending', async () => {
    await refusalOf(() => openShop().dispatcher.invoke(PriceOf({ orderId: 'a' })), 'NO_RECEPTOR');
    const { dispatcher } = openShop({ invoker: async () => undefined });
    const later = () => dispatcher.invoke(PriceOf({ orderId: 'a' }), { delaySeconds: 5 } as object);
    await refusalOf(later, 'INVALID_OPTION');
  });
});
