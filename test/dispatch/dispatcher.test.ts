import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
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
      'A message is needed, but a string was given.',
    );
  });
});
