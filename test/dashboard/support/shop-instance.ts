// One instance of the shop behind the page. Some of its orders fail for ever, some take long.
import { z } from 'zod';
import { createWhizbang, defineCommand, FinalError, receptor } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';

/** A script in an error text: it must be shown, and not run. */
export const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

export const PlaceOrder = defineCommand('PlaceOrder', {
  schema: z.object({ orderId: z.string(), fails: z.boolean().default(false), ms: z.number().default(0) }),
  stream: ({ orderId }) => orderId,
});

/** `isMended`: what failed for ever does not fail any more. */
export const createShop = (connectionString: string, isMended: () => boolean) =>
  createWhizbang({
    service: 'shop',
    connectionString,
    logger: silentLogger,
    concurrency: 4,
    history: { days: 1 },
    receptors: [
      receptor(PlaceOrder, async ({ fails, ms }) => {
        if (fails && !isMended()) throw new FinalError(`card declined ${evil}`);
        if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
      }),
    ],
  });
