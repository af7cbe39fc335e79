// The service that the crash tests break: it places orders, and notes those that were placed.
// Each receptor writes one effect, without any constraint that could hide a second one, and the first sends a message
// on, so that what is lost or doubled on the way shows in the effects of the second.
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Queryable } from '../../../src/database/index.js';
import {
  createWhizbang,
  defineCommand,
  defineEvent,
  receptor,
  type Whizbang,
  type WhizbangOptions,
} from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { asQueryable } from '../../../src/transactions/index.js';

const schema = z.object({ orderId: z.string(), step: z.number() });
const stream = ({ orderId }: { readonly orderId: string }) => orderId;

export const PlaceOrder = defineCommand('PlaceOrder', { schema, stream, to: 'shop' });
export const OrderPlaced = defineEvent('OrderPlaced', { schema, stream });
const OrderNoted = defineEvent('OrderNoted', { schema: schema.extend({ receptor: z.string() }), stream });

export const receptorNames = ['place', 'note'];

export const effectsTable = `
  create table effects (
    id bigint generated always as identity, receptor text, stream text, step int, message_id uuid, instance text)`;

/** As text, so that it goes through the transaction of any library. */
const insertEffect = `insert into effects (receptor, stream, step, message_id, instance)
  values ($1::text, $2::text, $3::text::int, $4::text::uuid, $5::text)`;

export const stockTable = 'create table stock as select 100 as left_over';

/** One row for all orders: whoever has it locked keeps the others waiting. */
export const takeFromStock = (tx: Queryable) => tx.query('update stock set left_over = left_over - 1');

/** As short as they may be, so that a test need not wait long for what a dead instance held. */
export const shortLeases = {
  leaseSeconds: 2,
  renewSeconds: 1,
  staleThresholdSeconds: 5,
  takeoverSeconds: 0.5,
};

/** For tests that count: on a busy machine a short lease runs out while its holder works. The test ends them itself. */
export const longLeases = { ...shortLeases, leaseSeconds: 120, staleThresholdSeconds: 120 };

interface ShopBehaviour {
  readonly name?: string | undefined;
  /** How long the first receptor takes. */
  readonly handlerMs?: number | undefined;
  /** The receptors of the event, one after the other. Default: `note`. */
  readonly noting?: readonly string[] | undefined;
  /** Those of them that fail at their first attempt. */
  readonly failing?: readonly string[] | undefined;
  /** Those of them that have no transaction: their effect is that of a message that they send. */
  readonly loose?: readonly string[] | undefined;
  /** What else the first receptor does in its transaction. */
  readonly work?: ((tx: Queryable, order: { orderId: string; step: number }) => Promise<unknown>) | undefined;
  /** Told of every run of the first receptor, and of its end. */
  readonly onRun?: ((step: number, orderId: string) => void) | undefined;
  readonly onRunEnd?: ((step: number, orderId: string) => void) | undefined;
}

export function createShop(
  options: Omit<Partial<WhizbangOptions>, 'service'> & Pick<WhizbangOptions, 'pool' | 'connectionString'>,
  {
    name = 'shop',
    handlerMs = 0,
    noting = ['note'],
    failing = [],
    loose = [],
    work,
    onRun,
    onRunEnd,
  }: ShopBehaviour = {},
): Whizbang {
  const place = receptor(PlaceOrder, async ({ orderId, step }, ctx) => {
    onRun?.(step, orderId);
    try {
      const tx = asQueryable(ctx.tx);
      await tx.query(insertEffect, ['place', orderId, String(step), ctx.envelope.messageId, name]);
      await work?.(tx, { orderId, step });
      if (handlerMs > 0) await pause(handlerMs);
      await ctx.publish(OrderPlaced({ orderId, step }));
    } finally {
      onRunEnd?.(step, orderId);
    }
  });
  const failAtFirst = (each: string, attempt: number) => {
    if (attempt === 1 && failing.includes(each)) throw new Error(`${each} fails at first`);
  };
  const notes = noting.map((each) =>
    loose.includes(each)
      ? receptor(OrderPlaced, { name: each, transaction: false }, (order, ctx) => {
          failAtFirst(each, ctx.attempt);
          return OrderNoted({ ...order, receptor: each });
        })
      : receptor(OrderPlaced, { name: each }, async ({ orderId, step }, ctx) => {
          failAtFirst(each, ctx.attempt);
          const values = [each, orderId, String(step), ctx.envelope.messageId, name];
          await asQueryable(ctx.tx).query(insertEffect, values);
        }),
  );
  const noted = receptor(OrderNoted, async ({ receptor: each, orderId, step }, ctx) => {
    const values = [each, orderId, String(step), ctx.envelope.messageId, name];
    await asQueryable(ctx.tx).query(insertEffect, values);
  });
  return createWhizbang({
    service: 'shop',
    concurrency: 4,
    logger: silentLogger,
    retry: { firstDelaySeconds: 0.05, maxDelaySeconds: 0.5 },
    ...shortLeases,
    ...options,
    receptors: [place, ...notes, ...(loose.length > 0 ? [noted] : [])],
  } as WhizbangOptions);
}
