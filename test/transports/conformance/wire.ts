import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { streamIdOf } from '../../../src/messages/index.js';
import { encodeMessage, type TransportMessage } from '../../../src/transports/index.js';
import { ids, message, messageOf, stream, type World } from '../world.js';
import type { Trial } from './trial.js';

export function wire(trial: Trial): void {
  trial(
    'source, sequence and the time of sending arrive as they were sent',
    async (world) => {
      const shop = await world.join('shop');
      const orders = await world.listen('orders', { stores: false });
      const sent = [
        message('orders', {
          source: 'shop',
          sequence: '9007199254740993',
          sentAt: '2026-02-03T04:05:06.789Z',
        }),
        message('orders', { source: 'Laden, süß / 店', sequence: '1', sentAt: '1999-12-31T23:59:59.000Z' }),
      ];

      await shop.sendAll(...sent);

      await orders.untilReceived(2);
      const facts = ({ messageId, source, sequence, sentAt }: TransportMessage) => [
        messageId,
        source,
        sequence,
        sentAt,
      ];
      const received = orders.deliveries.map((delivery) => facts(messageOf(delivery)));
      expect(received.toSorted()).toEqual(sent.map(facts).toSorted());
    },
    'deliveries',
  );

  for (const mode of ['structured', 'binary'] as const) {
    trial(
      `a CloudEvent of a foreign program arrives as a message, and once: ${mode} mode`,
      async (world) => {
        const orders = await world.listen('orders', { stores: false });
        const attributes = {
          specversion: '1.0',
          id: 'A-1 (ü)',
          source: 'https://example.com/till/7',
          type: 'com.example.sold',
          time: '2026-01-02T03:04:05Z',
          datacontenttype: 'application/json',
          partitionkey: 'till 7',
          color: 'blue',
        };
        const data = { lines: [{ article: 'Tee – 茶', count: 2 }] };

        for (let i = 0; i < 2; i++) await world.subject.sendForeign?.('orders', { mode, attributes, data });

        await orders.untilReceived(1);
        await orders.deliveries[0]?.acknowledge();
        await orders.untilReceived(2);
        const [first, second] = orders.deliveries.map(messageOf) as [TransportMessage, TransportMessage];
        expect(first).toEqual({
          messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          address: 'orders',
          type: 'com.example.sold',
          payload: data,
          metadata: {
            kind: 'event',
            cloudEvent: expect.objectContaining({
              id: attributes.id,
              source: attributes.source,
              color: 'blue',
            }),
          },
          scope: null,
          streamId: streamIdOf('till 7'),
          source: attributes.source,
          sequence: null,
          sentAt: '2026-01-02T03:04:05Z',
        });
        expect(second.messageId).toBe(first.messageId);
      },
      {
        lacking: ['deliveries', 'foreignEvents', ...(mode === 'binary' ? (['binaryMode'] as const) : [])],
      },
    );
  }

  trial(
    'a message of exactly the largest size arrives',
    async (world) => {
      const shop = await world.join('shop');
      await world.listen('orders');
      const sent = ofSize(world, world.traits.maxMessageBytes as number);

      await shop.sendAll(sent);

      const [stored] = await world.untilStored('orders', [sent]);
      expect(stored?.payload).toEqual(sent.payload);
    },
    'sizeLimit',
  );

  trial(
    'a message of one byte too many is refused for good, and holds back only its stream',
    async (world) => {
      const shop = await world.join('shop');
      await world.listen('orders');
      const streamId = randomUUID();
      const tooLarge = { ...ofSize(world, (world.traits.maxMessageBytes as number) + 1, streamId) };
      const [later, other] = [stream('orders', 1, streamId), stream('orders', 1)];

      const outcomes = await shop.send(tooLarge, ...later, ...other);

      expect(outcomes.slice(0, 2)).toMatchObject([{ kind: 'failed', final: true }, { kind: 'held-back' }]);
      expect((outcomes[0] as { error: Error }).error.message).toMatch(/\d/);
      expect(ids(await world.untilStored('orders', other))).toEqual(ids(other));
    },
    'sizeLimit',
  );
}

/** A message that has this size on the wire. */
function ofSize(world: World, bytes: number, streamId: string | null = null): TransportMessage {
  const sizeOf = (each: TransportMessage) => world.subject.sizeOf?.(each) ?? encodeMessage(each).length;
  const empty = message('orders', { streamId, payload: { text: '' } });
  const filled = { ...empty, payload: { text: 'x'.repeat(bytes - sizeOf(empty)) } };
  expect(sizeOf(filled)).toBe(bytes);
  return filled;
}
