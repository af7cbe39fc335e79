import { AssertionError } from 'node:assert';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { receptor } from '../../src/index.js';
import type { TestKit } from '../../src/testing/index.js';
import { countingReceptor, effectsIn, OrderPaid, OrderPlaced, ShipOrder, startShop } from './shop.js';

describe('A kit', () => {
  it('a kit runs receptors on a database of its own and knows what they sent', async () => {
    const { onPlaced, runs } = countingReceptor();
    await using kit = await startShop({ receptors: [onPlaced] });
    const messageId = await kit.publish(OrderPlaced({ orderId: 'a' }));
    await kit.quiet();
    expect(runs).toEqual(['a']);
    expect(await effectsIn(kit.pool)).toEqual(['a']);
    expect(kit.sent().map(({ type }) => type)).toEqual(['OrderPlaced', 'OrderPaid']);
    expect(kit.sent(OrderPaid)).toMatchObject([
      { payload: { orderId: 'a' }, address: 'OrderPaid', kind: 'event', causationId: messageId },
    ]);
  });

  it('a kit of any transaction fits where none is named', () => {
    const named = (kit: TestKit) => kit;
    const unused = (kit: TestKit<{ insert(): Promise<void> }>) => named(kit).quiet();
    expectTypeOf(unused).toBeFunction();
  });

  it('a kit shares nothing with another kit', async () => {
    const { onPlaced, runs } = countingReceptor();
    await using one = await startShop({ receptors: [onPlaced] });
    await using other = await startShop({ receptors: [onPlaced] });
    await one.publish(OrderPlaced({ orderId: 'a' }));
    await Promise.all([one.quiet(), other.quiet()]);
    expect(runs).toEqual(['a']);
    expect(await effectsIn(other.pool)).toEqual([]);
    expect(other.sent()).toEqual([]);
  });

  it('a kit gives what was sent in order, each message once, with the type of its payload', async () => {
    await using kit = await startShop();
    for (const orderId of ['a', 'b', 'c']) await kit.send(ShipOrder({ orderId }));
    await kit.quiet();
    const orders = kit.sent(ShipOrder).map(({ payload }) => payload.orderId);
    expectTypeOf(orders).toEqualTypeOf<string[]>();
    expect(orders).toEqual(['a', 'b', 'c']);
    expect(kit.sent(ShipOrder)[0]).toMatchObject({ kind: 'command', address: 'warehouse' });
  });

  it('a kit has nothing of what was sent in a transaction that was rolled back', async () => {
    await using kit = await startShop();
    const client = await kit.pool.connect();
    await client.query('begin');
    await kit.whizbang.send(ShipOrder({ orderId: 'a' }), { tx: client });
    await client.query('rollback');
    client.release();
    await kit.quiet();
    expect(kit.sent()).toEqual([]);
  });

  it('kits that share a transport exchange messages, and are quiet together', async () => {
    const { onPlaced } = countingReceptor();
    const shipped: string[] = [];
    const onShip = receptor(ShipOrder, ({ orderId }) => void shipped.push(orderId));
    const onPaid = receptor(OrderPaid, ({ orderId }) => ShipOrder({ orderId }));
    await using shop = await startShop({ receptors: [onPlaced, onPaid] });
    await using warehouse = await startShop({
      service: 'warehouse',
      receptors: [onShip],
      transport: shop.transport,
    });
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await warehouse.quiet();
    expect(shipped).toEqual(['a']);
    await expect(startShop({ transport: shop.transport })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});

describe('expectSent', () => {
  it('expectSent gives the first message that has the expected parts', async () => {
    await using kit = await startShop();
    for (const orderId of ['a', 'b']) {
      await kit.publish(OrderPaid({ orderId, card: { brand: 'visa', digits: orderId } }));
    }
    await kit.quiet();
    const paid = kit.expectSent(OrderPaid, { card: { digits: 'b' } });
    expect(paid.payload).toEqual({ orderId: 'b', card: { brand: 'visa', digits: 'b' } });
    expect(
      kit.expectSent(OrderPaid, { orderId: expect.stringMatching(/[ab]/) as string }).payload.orderId,
    ).toBe('a');
    expect(kit.expectSent(OrderPaid)).toBe(kit.sent()[0]);
  });

  it('expectSent fails with what was sent instead', async () => {
    await using kit = await startShop();
    expect(() => kit.expectSent(ShipOrder)).toThrow('ShipOrder was not sent. Nothing was sent.');
    await kit.publish(OrderPlaced({ orderId: 'a', total: 3 }));
    await kit.send(ShipOrder({ orderId: 'a' }));
    await kit.quiet();
    let failure: unknown;
    try {
      kit.expectSent(ShipOrder, { orderId: 'b' });
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(AssertionError);
    expect(failure).toMatchObject({ actual: [{ orderId: 'a' }], expected: [{ orderId: 'b' }] });
    expect((failure as Error).message).toBe(
      "ShipOrder { orderId: 'b' } was not sent. What was sent:\n" +
        "- OrderPlaced { orderId: 'a', total: 3 }\n- ShipOrder { orderId: 'a' }",
    );
  });

  it('expectSent with parts that the message does not have does not compile', async () => {
    await using kit = await startShop();
    // @ts-expect-error there is no such field
    expect(() => kit.expectSent(ShipOrder, { orderID: 'a' })).toThrow(AssertionError);
    // @ts-expect-error it is a string
    expect(() => kit.expectSent(ShipOrder, { orderId: 1 })).toThrow(AssertionError);
  });
});
