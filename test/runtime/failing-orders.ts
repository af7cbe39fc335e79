// A service whose orders fail, and which notes what has come of it.
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { defineEvent, type Logger, type ReceptorContext, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { TestDatabase } from '../support/database.js';
import { PlaceOrder, service } from './service.js';

const schema = z.object({ orderId: z.string(), reason: z.string() });
const stream = ({ orderId }: { readonly orderId: string }) => orderId;
export const OrderFailed = defineEvent('OrderFailed', { schema, stream });

const twice = { retry: { attempts: 2, firstDelaySeconds: 0.02, jitter: 0 } };

/** Orders with a step above 0 succeed. `beforeIt` runs in onGivenUp, before it returns OrderFailed. */
export function failing(
  db: TestDatabase,
  {
    thrown = () => new Error('no card'),
    options = {},
    logger = silentLogger,
    beforeIt = async () => {},
  }: {
    thrown?: () => unknown;
    options?: object;
    logger?: Logger;
    beforeIt?: (ctx: ReceptorContext) => Promise<unknown>;
  } = {},
) {
  const runs: string[] = [];
  const failures: { reason: string; envelope: ReceptorContext['envelope'] }[] = [];
  const errors: (Error & { code?: string | undefined })[] = [];
  const place = receptor(
    PlaceOrder,
    {
      ...twice,
      ...options,
      onGivenUp: async ({ orderId }, ctx, error) => {
        runs.push(`given up ${orderId} after ${ctx.attempt}`);
        errors.push(error);
        await beforeIt(ctx);
        return OrderFailed({ orderId, reason: error.message });
      },
    },
    async ({ orderId, step }, ctx) => {
      runs.push(`${orderId}${step} ${ctx.attempt}${ctx.isLastAttempt ? ', the last' : ''}`);
      if (step > 0) return;
      if ('timeoutSeconds' in options) await pause(20_000, undefined, { signal: ctx.signal }).catch(() => {});
      throw thrown();
    },
  );
  const failed = receptor(
    OrderFailed,
    ({ reason }, { envelope }) => void failures.push({ reason, envelope }),
  );
  const shop = service(db, { receptors: [place, failed], logger });
  return { shop, runs, failures, errors };
}
