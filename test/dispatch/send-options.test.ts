import { describe, expect, it } from 'vitest';
import { newMessageId } from '../../src/message-id.js';
import { refusalOf } from '../messages/refusal.js';
import { OrderPlaced, openShop, PlaceOrder, Ticked } from './shop.js';

const order = (orderId = 'order-1') => ({ orderId, total: 5 });

describe('The time at which a message is due', () => {
  it('a message is sent with a delay that the database counts, or with the given time', async () => {
    const shop = openShop();
    await shop.dispatcher.send(PlaceOrder({ orderId: 'a' }), { delaySeconds: 1.5 });
    await shop.dispatcher.send(PlaceOrder({ orderId: 'a' }), { at: new Date(77) });
    await shop.dispatcher.send(PlaceOrder({ orderId: 'a' }), { delaySeconds: 0 });
    const times = shop
      .stored()
      .map(({ scheduledFor, delaySeconds }) => [scheduledFor?.getTime(), delaySeconds]);
    expect(times).toEqual([
      [undefined, 1.5],
      [77, undefined],
      [undefined, undefined],
    ]);
  });

  it.each([
    [{ delaySeconds: 1, at: new Date() }, 'at'],
    [{ delaySeconds: -1 }, 'delaySeconds'],
    [{ delaySeconds: Number.NaN }, 'delaySeconds'],
    [{ at: new Date(Number.NaN) }, 'at'],
    [{ at: 5 as unknown as Date }, 'at'],
    [{ at: new Date(8.64e15) }, 'at'],
    [{ at: new Date('-000044-03-15') }, 'at'],
  ])('send refuses the time of delivery %j', async (options, option) => {
    const shop = openShop();
    const error = await refusalOf(
      () => shop.dispatcher.send(PlaceOrder({ orderId: 'a' }), options),
      'INVALID_OPTION',
    );
    expect(error.details.option).toBe(option);
    expect(shop.calls).toEqual([]);
  });
});

describe('The expected version', () => {
  it('the expected version counts up through the events of one call', async () => {
    const shop = openShop();
    await shop.dispatcher.publish([OrderPlaced(order()), OrderPlaced(order())], { expectedVersion: 4 });
    await shop.dispatcher.publish(OrderPlaced(order()), { expectedVersion: 0 });
    expect(shop.stored().map(({ expectedVersion }) => expectedVersion)).toEqual([4, 5, 0]);
  });

  it('an expected version is refused for events of several streams, and for events without a stream', async () => {
    const { dispatcher } = openShop();
    const several = [OrderPlaced(order('a')), OrderPlaced(order('b'))];
    const none = [Ticked({}), Ticked({})];
    for (const events of [several, none]) {
      const error = await refusalOf(
        () => dispatcher.publish(events, { expectedVersion: 0 }),
        'INVALID_OPTION',
      );
      expect(error.details.option).toBe('expectedVersion');
    }
  });

  it.each([[-1], [1.5], ['1']])('publish refuses the expected version %j', async (expectedVersion) => {
    const publish = () =>
      openShop().dispatcher.publish(OrderPlaced(order()), { expectedVersion: expectedVersion as number });
    expect((await refusalOf(publish, 'INVALID_OPTION')).details.option).toBe('expectedVersion');
  });
});

describe('The options of a call', () => {
  it('a sender can choose the id of a message, so that it can be sent again', async () => {
    const shop = openShop();
    const messageId = newMessageId();
    expect(await shop.dispatcher.publish(OrderPlaced(order()), { messageId: messageId.toUpperCase() })).toBe(
      messageId,
    );
    expect(await shop.dispatcher.publish([OrderPlaced(order())], { messageId } as object)).toEqual([
      messageId,
    ]);
  });

  it('the transaction of a call is passed to the outbox as it is', async () => {
    const shop = openShop();
    const tx = { query: async () => ({ rows: [] }) };
    await shop.dispatcher.publish(OrderPlaced(order()), { tx });
    await shop.dispatcher.publish(OrderPlaced(order()));
    expect(shop.calls.map((call) => call.tx)).toEqual([tx, undefined]);
  });

  it.each([
    ['messageId', { messageId: 'order-1' }],
    ['messageId', { messageId: '00000000-0000-0000-0000-000000000000' }],
    ['tx', { tx: null }],
    ['tx', { tx: undefined }],
    ['to', { to: '' }],
    ['correlationId', { correlationId: '' }],
    ['correlationId', { correlationId: 7 }],
    ['causationId', { causationId: 'a\0b' }],
    ['traceparent', { traceparent: '00-0-0-00' }],
    ['scope', { scope: 5n }],
    ['scope.tenant.id', { scope: { tenant: { id: Number.NaN } } }],
    ['expectedVersion', { expectedVersion: 1 }],
    ['delayseconds', { delayseconds: 1 }],
  ])('send refuses a wrong option by its name: %s', async (option, options) => {
    const shop = openShop();
    const send = () => shop.dispatcher.send(PlaceOrder({ orderId: 'a' }), options as object);
    expect((await refusalOf(send, 'INVALID_OPTION')).details.option).toBe(option);
    expect(shop.calls).toEqual([]);
  });

  it('send and publish refuse a transaction that is undefined, and store nothing', async () => {
    const shop = openShop();
    const lost = { tx: undefined } as object;
    for (const call of [
      () => shop.dispatcher.publish(OrderPlaced(order()), lost),
      () => shop.dispatcher.publish([OrderPlaced(order()), OrderPlaced(order())], lost),
      () => shop.dispatcher.publish([], lost),
      () => shop.dispatcher.send([PlaceOrder({ orderId: 'a' })], lost),
    ]) {
      const { message, hint, details } = await refusalOf(call, 'INVALID_OPTION');
      expect(message).toMatch(/^(send|publish): tx is undefined\.$/);
      expect(hint).toContain('leave tx out');
      expect(details.option).toBe('tx');
    }
    expect(shop.calls).toEqual([]);
  });

  it('send refuses one message id for several messages', async () => {
    const commands = [PlaceOrder({ orderId: 'a' }), PlaceOrder({ orderId: 'b' })];
    const send = () => openShop().dispatcher.send(commands, { messageId: newMessageId() } as object);
    expect((await refusalOf(send, 'INVALID_OPTION')).details.option).toBe('messageId');
  });

  it('send rejects with the error of the outbox as it is', async () => {
    const away = new Error('away');
    const { dispatcher } = openShop({ outbox: { store: () => Promise.reject(away) } });
    await expect(dispatcher.send(PlaceOrder({ orderId: 'a' }))).rejects.toBe(away);
  });
});
