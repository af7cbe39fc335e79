import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newMessageId } from '../../src/message-id.js';
import { streamIdOf } from '../../src/messages/index.js';
import { refusalOf } from '../messages/refusal.js';
import { Homeless, OrderPlaced, openShop, PlaceOrder, Ticked } from './shop.js';

const order = (orderId = 'order-1') => ({ orderId, total: 5 });

describe('Sending a command', () => {
  it('send stores a command for the service that handles it, and returns its id', async () => {
    const shop = openShop();
    const messageId = await shop.dispatcher.send(PlaceOrder({ orderId: 'order-1' }));
    expect(shop.stored()).toMatchObject([
      {
        messageId,
        destination: 'orders',
        eventType: 'PlaceOrder',
        eventData: { orderId: 'order-1' },
        streamId: streamIdOf('order-1'),
        isEvent: false,
        metadata: { kind: 'command', schemaVersion: 1 },
      },
    ]);
  });

  it('a command goes to the address of the call, then of its definition, then to the default', async () => {
    const shop = openShop({ defaultAddress: () => 'shop' });
    await shop.dispatcher.send(PlaceOrder({ orderId: 'a' }), { to: 'archive' });
    await shop.dispatcher.send(PlaceOrder({ orderId: 'a' }));
    await shop.dispatcher.send(Homeless({}));
    expect(shop.stored().map(({ destination }) => destination)).toEqual(['archive', 'orders', 'shop']);
  });

  it('a command without a destination is refused', async () => {
    const shop = openShop({ defaultAddress: () => undefined });
    const error = await refusalOf(() => shop.dispatcher.send(Homeless({})), 'NO_DESTINATION');
    expect(error.message).toContain('Homeless');
    expect(shop.calls).toEqual([]);
  });
});

describe('Publishing an event', () => {
  it('publish stores an event under its topic, as an event of its stream', async () => {
    const shop = openShop();
    const orderId = randomUUID();
    await shop.dispatcher.publish(OrderPlaced(order(orderId)));
    expect(shop.stored()).toMatchObject([{ destination: 'OrderPlaced', streamId: orderId, isEvent: true }]);
  });

  it('an event without a stream is not an event of the event store', async () => {
    const shop = openShop();
    await shop.dispatcher.publish(Ticked({}));
    expect(shop.stored()).toMatchObject([{ destination: 'clock', streamId: null, isEvent: false }]);
  });

  it('publish stores what the sender wrote, not what the schema makes of it', async () => {
    const shop = openShop();
    await shop.dispatcher.publish(OrderPlaced({ orderId: 'a', total: '5' }));
    expect(shop.stored()).toMatchObject([{ eventData: { orderId: 'a', total: '5' } }]);
  });
});

describe('Sending several messages', () => {
  it('several messages are stored in one call to the outbox, in order, and their ids are returned', async () => {
    const shop = openShop();
    const ids = await shop.dispatcher.publish(['a', 'b', 'c'].map((id) => OrderPlaced(order(id))));
    expect(shop.calls).toHaveLength(1);
    expect(shop.stored().map(({ messageId }) => messageId)).toEqual(ids);
    expect(shop.stored().map(({ eventData }) => eventData)).toMatchObject([
      { orderId: 'a' },
      { orderId: 'b' },
      { orderId: 'c' },
    ]);
    expect([...ids].sort()).toEqual(ids);
  });

  it('an empty list of messages makes no call to the outbox', async () => {
    const shop = openShop();
    expect(await shop.dispatcher.publish([])).toEqual([]);
    expect(await shop.dispatcher.send([])).toEqual([]);
    expect(shop.calls).toEqual([]);
  });

  it('none of several messages is stored when one is refused, and the error names it', async () => {
    const shop = openShop();
    const bad = OrderPlaced({ orderId: 'b', total: 'many' });
    const error = await refusalOf(
      () => shop.dispatcher.publish([OrderPlaced(order()), bad]),
      'INVALID_MESSAGE',
    );
    expect(error.message).toContain('Message 1: OrderPlaced: total');
    expect(error.details).toMatchObject({ index: 1, issues: [{ path: 'total' }] });
    expect(shop.calls).toEqual([]);
  });
});

describe('The kind of a message', () => {
  it('send refuses an event and publish refuses a command, for the compiler and at run time', async () => {
    const { dispatcher } = openShop();
    // @ts-expect-error an event is published
    const sent = await refusalOf(() => dispatcher.send(OrderPlaced(order())), 'INVALID_MESSAGE');
    expect(sent).toMatchObject({
      message: 'OrderPlaced is an event, and cannot be given to send.',
      hint: 'Use publish.',
    });
    const many = [PlaceOrder({ orderId: 'a' })];
    // @ts-expect-error a command is sent
    expect((await refusalOf(() => dispatcher.publish(many), 'INVALID_MESSAGE')).hint).toBe('Use send.');
    // @ts-expect-error an event is published
    await refusalOf(() => dispatcher.invoke(OrderPlaced(order())), 'INVALID_MESSAGE');
  });

  it.each([[undefined], [null], ['PlaceOrder'], [{ orderId: 'a' }], [PlaceOrder]])(
    'send refuses %s, which is not a message',
    async (value) => {
      const { dispatcher } = openShop();
      const error = await refusalOf(() => dispatcher.send(value as never), 'INVALID_MESSAGE');
      expect(error.hint).toContain('OrderPlaced({');
    },
  );

  it('send checks that it is given a message before it checks the options', async () => {
    const { dispatcher } = openShop();
    const likeAnEmitter = () => dispatcher.send('PlaceOrder' as never, { orderId: 'a' } as never);
    expect((await refusalOf(likeAnEmitter, 'INVALID_MESSAGE')).message).toContain(
      'not a message but a string',
    );
  });
});

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
