// The service that the crash tests break: it places orders, and notes those that were placed.
// Each receptor writes one effect, without any constraint that could hide a second one, and the first sends a message
// on, so that what is lost or doubled on the way shows in the effects of the second.
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import {
  createWhizbang,
  defineCommand,
  defineEvent,
  receptor,
  type Whizbang,
  type WhizbangOptions,
} from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';

const schema = z.object({ orderId: z.string(), step: z.number() });
const stream = ({ orderId }: { readonly orderId: string }) => orderId;

export const PlaceOrder = defineCommand('PlaceOrder', { schema, stream, to: 'shop' });
export const OrderPlaced = defineEvent('OrderPlaced', { schema, stream });

export const receptorNames = ['place', 'note'];

export const effectsTable = `
  create table effects (
    id bigint generated always as identity, receptor text, stream text, step int, message_id uuid, instance text)`;

const insertEffect =
  'insert into effects (receptor, stream, step, message_id, instance) values ($1, $2, $3, $4, $5)';

/** As short as they may be, so that a test need not wait long for what a dead instance held. */
export const shortLeases = {
  leaseSeconds: 2,
  renewSeconds: 1,
  staleThresholdSeconds: 5,
  takeoverSeconds: 0.5,
};

/** For tests that count: on a busy machine a short lease runs out while its holder works. The test ends them itself. */
export const longLeases = { ...shortLeases, leaseSeconds: 120, staleThresholdSeconds: 120 };

export interface ShopBehaviour {
  readonly name?: string | undefined;
  /** How long the first receptor takes. */
  readonly handlerMs?: number | undefined;
  /** The receptors of the event, one after the other. Default: `note`. */
  readonly noting?: readonly string[] | undefined;
  /** Told of every run of the first receptor, and of its end. */
  readonly onRun?: ((step: number, orderId: string) => void) | undefined;
  readonly onRunEnd?: ((step: number, orderId: string) => void) | undefined;
}

export function createShop(
  options: Omit<Partial<WhizbangOptions>, 'service'> & Pick<WhizbangOptions, 'pool' | 'connectionString'>,
  { name = 'shop', handlerMs = 0, noting = ['note'], onRun, onRunEnd }: ShopBehaviour = {},
): Whizbang {
  const place = receptor(PlaceOrder, async ({ orderId, step }, ctx) => {
    onRun?.(step, orderId);
    try {
      await ctx.tx.query(insertEffect, ['place', orderId, step, ctx.envelope.messageId, name]);
      if (handlerMs > 0) await pause(handlerMs);
      await ctx.publish(OrderPlaced({ orderId, step }));
    } finally {
      onRunEnd?.(step, orderId);
    }
  });
  const notes = noting.map((each) =>
    receptor(OrderPlaced, { name: each }, async ({ orderId, step }, ctx) => {
      await ctx.tx.query(insertEffect, [each, orderId, step, ctx.envelope.messageId, name]);
    }),
  );
  return createWhizbang({
    service: 'shop',
    concurrency: 4,
    logger: silentLogger,
    retry: { firstDelaySeconds: 0.05, maxDelaySeconds: 0.5 },
    ...shortLeases,
    ...options,
    receptors: [place, ...notes],
  } as WhizbangOptions);
}
