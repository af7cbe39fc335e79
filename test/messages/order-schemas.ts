// The same message in the three libraries: an order with lines, whose date is text for senders and a Date for handlers.
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';

export const zodOrder = z.object({
  orderId: z.string(),
  placedAt: z.iso.datetime().transform((text) => new Date(text)),
  lines: z.array(z.object({ sku: z.string(), price: z.number() })),
  note: z.string().optional(),
});

export const valibotOrder = v.object({
  orderId: v.string(),
  placedAt: v.pipe(
    v.string(),
    v.isoTimestamp(),
    v.transform((text) => new Date(text)),
  ),
  lines: v.array(v.object({ sku: v.string(), price: v.number() })),
  note: v.optional(v.string()),
});

export const arktypeOrder = type({
  orderId: 'string',
  placedAt: 'string.date.iso.parse',
  lines: type({ sku: 'string', price: 'number' }).array(),
  'note?': 'string',
});

export const orderSchemas = { zod: zodOrder, valibot: valibotOrder, arktype: arktypeOrder };

export const anOrder = () => ({
  orderId: 'order-1',
  placedAt: '2026-01-02T03:04:05.000Z',
  lines: [{ sku: 'tea', price: 3.5 }],
});
