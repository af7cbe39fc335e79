// The messages between the two services, and how often handling one of them fails in the warehouse.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineEvent } from '../../src/index.js';

/** The next step of an order. Steps of one order are a stream: 1, 2, 3 and so on, in this order. */
export const OrderMoved = defineEvent('OrderMoved', {
  schema: z.object({ orderId: z.string(), step: z.number(), isLast: z.boolean() }),
  stream: ({ orderId }) => orderId,
  topic: 'whizbang_demo.orders',
});

/** The warehouse's answer to the last step. */
export const OrderShipped = defineEvent('OrderShipped', {
  schema: z.object({ orderId: z.string() }),
  stream: ({ orderId }) => orderId,
  topic: 'whizbang_demo.shipments',
});

/** The attempt at which the warehouse gives up a step that always fails. */
export const hopelessAfter = 4;

/**
 * How often handling this step fails before it works: usually never, sometimes always. The same in every
 * process.
 */
export function failuresOf(seed: number, orderId: string, step: number): number {
  const chance = createHash('sha256').update(`${seed} ${orderId} ${step}`).digest().readUInt32BE() / 2 ** 32;
  if (chance < 0.01) return Number.POSITIVE_INFINITY;
  if (chance < 0.03) return 3;
  if (chance < 0.06) return 2;
  return chance < 0.12 ? 1 : 0;
}
