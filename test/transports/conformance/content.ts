import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Delivery, UnreadableContent } from '../../../src/transports/index.js';
import { message, storedPart } from '../world.js';
import type { Trial } from './trial.js';

const text = 'Grüße, 世界, 👩‍👩‍👧, עברית, \u2028 "quoted" \\ /\n\t\r \u007f';

const difficult = {
  text,
  [text]: 'also as a key',
  numbers: [0, -1, 0.1, 1e-7, 1e21, -1.7976931348623157e308, 5e-324, Number.MAX_SAFE_INTEGER, 2 ** 53 + 2],
  nothing: null,
  empty: [{}, [], ''],
  notADate: '2024-02-30T25:00:00Z',
  nested: Array.from({ length: 60 }).reduce((inner: object) => ({ inner: [inner, true, false] }), {}),
};

export function content(trial: Trial): void {
  const payloads = {
    difficult,
    'a list': [1, [2]],
    'a text': text,
    'a number': 12.5,
    'a truth value': false,
  };

  for (const [what, payload] of Object.entries(payloads)) {
    trial(`payload, metadata and scope arrive as they were sent: ${what}`, async (world) => {
      const shop = await world.join('shop');
      await world.listen('orders');
      const fields = { payload, metadata: { hops: [difficult] }, scope: payload, streamId: randomUUID() };
      const sent = message('orders', { type: `Order.${text}`.slice(0, 30), ...fields });

      await shop.sendAll(sent);

      const [stored] = await world.untilStored('orders', [sent]);
      expect(stored).toStrictEqual(storedPart(sent));
    });
  }

  trial('a message without stream, metadata and scope arrives without them', async (world) => {
    const shop = await world.join('shop');
    await world.listen('orders');
    const sent = message('orders', { metadata: null, scope: null, streamId: null });

    await shop.sendAll(sent);

    const [stored] = await world.untilStored('orders', [sent]);
    expect(stored?.streamId).toBeNull();
    expect(stored?.scope).toBeNull();
    expect(stored?.metadata ?? {}).toEqual({});
  });

  trial('a large message arrives', async (world) => {
    const shop = await world.join('shop');
    await world.listen('orders');
    const sent = message('orders', { payload: { text: text.repeat(3_000) } });

    await shop.sendAll(sent);

    const [stored] = await world.untilStored('orders', [sent]);
    expect(stored?.payload).toEqual(sent.payload);
  });

  const garbage: Record<string, Uint8Array> = {
    'no UTF-8': new Uint8Array([0xff, 0xfe, 0x00]),
    'no JSON': Buffer.from('not a message'),
    'JSON that is no message': Buffer.from('{"hello": "world"}'),
    'nothing at all': new Uint8Array(),
  };
  for (const [what, bytes] of Object.entries(garbage)) {
    trial(
      `unreadable content is delivered as it is, with its address and a reason: ${what}`,
      async (world) => {
        const orders = await world.listen('orders', { stores: false });

        await world.subject.sendUnreadable?.('orders', bytes);

        await orders.untilReceived(1);
        const [{ content }] = orders.deliveries as [Delivery];
        const reason = expect.stringMatching(/\w/);
        expect(content).toEqual({ address: 'orders', unreadable: reason, bytes: expect.any(Uint8Array) });
        expect(Buffer.from((content as UnreadableContent).bytes)).toEqual(Buffer.from(bytes));
      },
      'unreadableContent',
    );
  }

  trial(
    'unreadable content blocks nothing, and is not delivered again once it is acknowledged',
    async (world) => {
      const shop = await world.join('shop');
      const orders = await world.listen('orders', { stores: false });
      await world.subject.sendUnreadable?.('orders', Buffer.from('?'));
      const readable = message('orders');
      await shop.sendAll(readable);
      await orders.untilReceived(2);

      await Promise.all(orders.deliveries.map((delivery) => delivery.acknowledge()));
      await orders.connection.close();
      const next = await world.listen('orders', { stores: false });
      const later = message('orders');
      await shop.sendAll(later);

      await world.eventually(() => expect(next.deliveries).toHaveLength(1));
      expect(next.received).toEqual([later.messageId]);
    },
    'unreadableContent',
  );
}
