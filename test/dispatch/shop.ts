// A small shop to send from: definitions, and a dispatcher whose outbox is an array, as it is inside a handler.
import { z } from 'zod';
import { Dispatcher, type DispatcherOptions } from '../../src/dispatch/index.js';
import type { NewOutboxMessage } from '../../src/message.js';
import { defineCommand, defineEvent, type Envelope, envelopeOf } from '../../src/messages/index.js';

export const OrderPlaced = defineEvent('OrderPlaced', {
  schema: z.object({ orderId: z.string(), total: z.coerce.number() }),
  stream: (order) => order.orderId,
});
export const Ticked = defineEvent('Ticked', { schema: z.object({}), topic: 'clock' });
export const PlaceOrder = defineCommand('PlaceOrder', {
  schema: z.object({ orderId: z.string() }),
  stream: (order) => order.orderId,
  to: 'orders',
});
export const Homeless = defineCommand('Homeless', { schema: z.object({}) });
export const PriceOf = defineCommand('PriceOf', {
  schema: z.object({ orderId: z.string() }),
  result: z.object({ total: z.number() }),
});

interface Shop {
  readonly dispatcher: Dispatcher;
  /** What was stored, call by call. */
  readonly calls: { readonly messages: readonly NewOutboxMessage[]; readonly tx: unknown }[];
  readonly stored: () => NewOutboxMessage[];
}

export function openShop(options: Partial<DispatcherOptions> = {}): Shop {
  const calls: Shop['calls'] = [];
  const dispatcher = new Dispatcher({
    service: 'shop',
    instanceId: 'till-1',
    outbox: { store: async (messages, tx) => void calls.push({ messages, tx }) },
    ...options,
  });
  return { dispatcher, calls, stored: () => calls.flatMap(({ messages }) => messages) };
}

/** What a receiver makes of what was stored. */
export function received(message: NewOutboxMessage | undefined): Envelope {
  if (message === undefined) throw new Error('nothing was stored');
  const { messageId, eventData, metadata, scope = null, streamId = null } = message;
  const kind = message.eventType === 'PlaceOrder' ? ('command' as const) : ('event' as const);
  const json: unknown = JSON.parse(JSON.stringify(metadata));
  return envelopeOf(
    { messageId, eventData, metadata: json, scope, streamId },
    { kind, type: message.eventType },
  );
}
