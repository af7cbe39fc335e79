import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { keyedPerspective, perspective, receptor } from '../../src/index.js';
import { OrderPaid, OrderPlaced, startShop } from './shop.js';

const card = { brand: 'visa', digits: '42' };
const orders = perspective('orders', { model: z.object({ total: z.number(), brand: z.string() }) })
  .starts(OrderPlaced, ({ total }) => ({ total, brand: '' }))
  .on(OrderPaid, (order, { card: { brand } }) => ({ ...order, brand }));
const brands = keyedPerspective('brands', { model: z.object({ paid: z.number() }), initial: { paid: 0 } }).on(
  OrderPaid,
  ({ card: { brand } }) => brand,
  ({ paid }) => ({ paid: paid + 1 }),
);

describe('a kit with perspectives', () => {
  it('quiet waits until perspectives have applied what receptors cause, and what is appended', async () => {
    const pays = receptor(OrderPlaced, ({ orderId }) => OrderPaid({ orderId, card }));
    await using kit = await startShop({ receptors: [pays], perspectives: [orders, brands] });
    for (let i = 1; i <= 5; i++) {
      await kit.publish(OrderPlaced({ orderId: `a${i}`, total: i }));
      await kit.append(OrderPlaced({ orderId: `b${i}`, total: i }));
      await kit.quiet();
      const { model } = kit.whizbang;
      expect(await model(orders).get(`a${i}`)).toEqual({ total: i, brand: 'visa' });
      expect(await model(orders).get(`b${i}`)).toEqual({ total: i, brand: '' });
      expect(await model(brands).get('visa')).toEqual({ paid: i });
    }
  });

  it('quiet waits for what a perspective announces', async () => {
    const seen: string[] = [];
    const announcing = orders.announces(OrderPaid, (order, before) =>
      before === null ? { orderId: String(order.total), card } : undefined,
    );
    const onPaid = receptor(OrderPaid, ({ orderId }) => void seen.push(orderId));
    await using kit = await startShop({ receptors: [onPaid], perspectives: [announcing] });
    await kit.append(OrderPlaced({ orderId: '7', total: 7 }));
    await kit.quiet();
    expect(seen).toEqual(['7']);
    expect(await kit.whizbang.model(announcing).get('7')).toEqual({ total: 7, brand: 'visa' });
  });

  it('quiet names a perspective that is behind, and the stream that is held in another', async () => {
    const broken = perspective('broken', { model: z.object({}) }).starts(OrderPlaced, () => {
      throw new Error('it is broken');
    });
    await using kit = await startShop({ perspectives: [broken] });
    const { streamId } = await kit.append(OrderPlaced({ orderId: 'a' }));
    await expect(kit.quiet({ seconds: 0 })).rejects.toThrow(
      /What is left:\n- perspective broken@1: (it has not applied all events|.* is held at version 1)/,
    );
    // It is tried again at once, until its attempts are used up.
    await kit.quiet();
    expect(await kit.whizbang.perspectives.held(broken)).toMatchObject([
      { streamId, attempts: 10, retryAt: null, error: expect.stringContaining('it is broken') },
    ]);
  });

  it('a perspective survives duplicates, kills and a rebuild', async () => {
    await using kit = await startShop();
    const events = ['a', 'b'].flatMap((orderId) => [
      OrderPlaced({ orderId, total: 1 }),
      OrderPaid({ orderId, card }),
    ]);
    await kit.perspective(orders).survives(events);
    await kit.perspective(brands).survives(events);
    await kit.perspective(orders).survives([]);
  });

  it('a perspective whose function depends on what happens around it does not survive', async () => {
    let calls = 0;
    const impure = perspective('impure', { model: z.object({ calls: z.number() }) }).starts(
      OrderPlaced,
      () => ({
        calls: ++calls,
      }),
    );
    await using kit = await startShop();
    await expect(kit.perspective(impure).survives([OrderPlaced({ orderId: 'a' })])).rejects.toThrow(
      /^impure has other models after duplicates and kills:\n- .*\.model\.calls: expected \d+, found \d+/,
    );
  });
});
