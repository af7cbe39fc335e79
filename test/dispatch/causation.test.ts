import { describe, expect, it } from 'vitest';
import { type Envelope, newTraceparent, parseTraceparent } from '../../src/messages/index.js';
import { OrderPlaced, openShop, PlaceOrder, received } from './shop.js';

const aCommand = PlaceOrder({ orderId: 'order-1' });

async function sentBy(
  parent: Envelope | undefined,
  options: Parameters<ReturnType<typeof openShop>['dispatcher']['send']>[1] = {},
  sender: Parameters<typeof openShop>[0] = {},
): Promise<Envelope> {
  const shop = openShop({ parent, ...sender });
  await shop.dispatcher.send(aCommand, options);
  return received(shop.stored()[0]);
}

describe('A message from outside a handler', () => {
  it('a message sent outside a handler begins a conversation of its own', async () => {
    const first = await sentBy(undefined);
    expect(first).toMatchObject({
      correlationId: first.messageId,
      causationId: null,
      scope: null,
      tracestate: null,
    });
    expect(first.hops).toEqual([{ service: 'shop', instanceId: 'till-1', at: expect.any(String) }]);
    expect(parseTraceparent(first.traceparent)).toBeDefined();
  });

  it('a message has the conversation, cause, scope and trace that the call gives it', async () => {
    const options = {
      correlationId: 'request-7',
      causationId: 'click-8',
      scope: { tenant: 't' },
      traceparent: newTraceparent(),
    };
    expect(await sentBy(undefined, options)).toMatchObject(options);
  });

  it('a message belongs to the span that is active', async () => {
    const traceparent = newTraceparent();
    expect(await sentBy(undefined, {}, { traceContext: () => traceparent })).toMatchObject({ traceparent });
  });

  it('a message is sent in a new trace when the trace context is not valid', async () => {
    const { traceparent } = await sentBy(undefined, {}, { traceContext: () => 'nonsense' });
    expect(parseTraceparent(traceparent)).toBeDefined();
  });
});

describe('Messages that are sent while another is handled', () => {
  it('messages sent while another is handled keep its conversation, scope and trace, and name their cause', async () => {
    const scope = { tenant: 'acme', user: { id: 7 } };
    const chain = [await sentBy(undefined, { scope })];
    for (let i = 0; i < 4; i++) {
      chain.push(await sentBy(chain.at(-1), {}, { service: `service-${i}`, instanceId: `instance-${i}` }));
    }
    const [first] = chain as [Envelope];
    const trace = parseTraceparent(first.traceparent);
    for (const [i, envelope] of chain.entries()) {
      expect(envelope.correlationId).toBe(first.messageId);
      expect(envelope.causationId).toBe(chain[i - 1]?.messageId ?? null);
      expect(envelope.scope).toEqual(scope);
      expect(parseTraceparent(envelope.traceparent)).toMatchObject({
        traceId: trace?.traceId,
        flags: trace?.flags,
      });
      expect(envelope.hops.map((hop) => hop.service)).toEqual(
        ['shop', 'service-0', 'service-1', 'service-2', 'service-3'].slice(0, i + 1),
      );
    }
    expect(new Set(chain.map(({ traceparent }) => traceparent)).size).toBe(chain.length);
  });

  it('a message can leave the scope of its parent, or take another', async () => {
    const parent = await sentBy(undefined, { scope: { tenant: 'acme' } });
    expect((await sentBy(parent, { scope: null })).scope).toBeNull();
    expect((await sentBy(parent, { scope: { tenant: 'other' } })).scope).toEqual({ tenant: 'other' });
  });

  it('a message can leave the conversation of its parent', async () => {
    const parent = await sentBy(undefined);
    const left = await sentBy(parent, { correlationId: 'another', causationId: null });
    expect(left).toMatchObject({ correlationId: 'another', causationId: null });
  });

  it('a message keeps the tracestate of its parent only in the same trace', async () => {
    const parent = { ...(await sentBy(undefined)), tracestate: 'vendor=1' };
    expect((await sentBy(parent)).tracestate).toBe('vendor=1');
    expect((await sentBy(parent, { traceparent: newTraceparent() })).tracestate).toBeNull();
  });

  it('messages of one call have the same cause, and an id each', async () => {
    const parent = await sentBy(undefined);
    const shop = openShop({ parent });
    await shop.dispatcher.publish(['a', 'b'].map((orderId) => OrderPlaced({ orderId, total: 1 })));
    const [a, b] = shop.stored().map(received) as [Envelope, Envelope];
    expect([a.causationId, b.causationId]).toEqual([parent.messageId, parent.messageId]);
    expect(a.messageId).not.toBe(b.messageId);
    expect(a.traceparent).not.toBe(b.traceparent);
  });
});
