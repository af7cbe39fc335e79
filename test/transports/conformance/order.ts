import { expect } from 'vitest';
import type { SendOutcome, TransportMessage } from '../../../src/transports/index.js';
import { expectOrder, interleaved, never, stream, type World } from '../world.js';
import type { Trial } from './trial.js';

const manyStreams = (count: number, length: number) =>
  interleaved(Array.from({ length: count }, () => stream('orders', length)));

export function order(trial: Trial): void {
  trial('1000 messages of 100 streams arrive in order at three instances', async (world) => {
    const shop = await world.join('shop');
    for (let i = 0; i < 3; i++) await world.listen('orders', { prefetch: 10 });
    const messages = manyStreams(100, 10);

    for (let i = 0; i < messages.length; i += 100) await shop.sendAll(...messages.slice(i, i + 100));

    expectOrder(await world.untilStored('orders', messages), messages);
  });

  trial('messages of a stream arrive in the order of sending, also across calls', async (world) => {
    const shop = await world.join('shop');
    await world.listen('orders', { prefetch: 3 });
    await world.listen('orders', { prefetch: 3 });
    const messages = stream('orders', 40);

    for (const message of messages) await shop.sendAll(message);

    expectOrder(await world.untilStored('orders', messages), messages);
  });

  trial('senders that send at the same time keep the order of their streams', async (world) => {
    const senders = await Promise.all(Array.from({ length: 4 }, () => world.join('shop')));
    await world.listen('orders', { listensTo: ['orders'] });
    await world.listen('billing', { listensTo: ['orders'] });
    const shares = senders.map(() => manyStreams(10, 20));

    await Promise.all(
      senders.map(async (sender, i) => {
        const share = shares[i] ?? [];
        for (let sent = 0; sent < share.length; sent += 20)
          await sender.sendAll(...share.slice(sent, sent + 20));
      }),
    );

    const messages = shares.flat();
    expectOrder(await world.untilStored('orders', messages), messages);
    expectOrder(await world.untilStored('billing', messages), messages);
  });

  trial('messages of a stream arrive in order across the addresses of a service', async (world) => {
    const shop = await world.join('shop');
    for (let i = 0; i < 2; i++) await world.listen('orders', { listensTo: ['orders', 'OrderPlaced'] });
    const messages = stream('orders', 30).map((each, i) =>
      i % 3 ? each : { ...each, address: 'OrderPlaced' },
    );

    await shop.sendAll(...messages);

    expectOrder(await world.untilStored('orders', messages), messages);
  });

  trial(
    'a stream stays with one instance as long as one of its messages is unacknowledged',
    async (world) => {
      const shop = await world.join('shop');
      const [a, b] = [await idle(world), await idle(world)];
      const messages = manyStreams(10, world.handed(5));

      await shop.sendAll(...messages);

      await world.eventually(() => {
        expect(a.deliveries.length + b.deliveries.length).toBeGreaterThanOrEqual(messages.length);
      });
      const streamOf = new Map(messages.map(({ messageId, streamId }) => [messageId, streamId]));
      const ofB = new Set(b.received.map((id) => streamOf.get(id)));
      expect(a.received.filter((id) => ofB.has(streamOf.get(id)))).toEqual([]);
    },
    'deliveries',
  );

  trial(
    'instances that come and go break no order of a stream',
    async (world) => {
      const shop = await world.join('shop');
      const messages = manyStreams(20, 20);
      const instances = [
        await world.listen('orders', { prefetch: 7 }),
        await world.listen('orders', { prefetch: 7 }),
      ];

      for (let sent = 0; sent < messages.length; sent += 50) {
        await shop.sendAll(...messages.slice(sent, sent + 50));
        await world.eventually(async () => {
          expect((await world.stored('orders')).length).toBeGreaterThan(sent);
        });
        await instances.shift()?.connection.close();
        instances.push(await world.listen('orders', { prefetch: 7 }));
      }

      expectOrder(await world.untilStored('orders', messages), messages);
    },
    'deliveries',
  );

  trial(
    'an instance that crashes leaves its messages to the next, before those that waited behind them',
    async (world) => {
      const shop = await world.join('shop');
      const crashed = await world.listen('orders', { prefetch: 10, stores: false });
      const messages = manyStreams(2, 20);
      await shop.sendAll(...messages);
      await crashed.untilReceived(2 * world.handed(5));
      await crashed.store(crashed.deliveries[0]);

      await crashed.crash();
      await world.listen('orders', { prefetch: 10 });

      expectOrder(await world.untilStored('orders', messages), messages);
    },
    { lacking: ['deliveries', 'crash'] },
  );

  trial(
    'instances that crash under load lose nothing and break no order',
    async (world) => {
      const shop = await world.join('shop');
      const messages = manyStreams(10, 20);
      const instances = [
        await world.listen('orders', { prefetch: 7 }),
        await world.listen('orders', { prefetch: 7 }),
      ];

      for (let sent = 0; sent < messages.length; sent += 50) {
        await shop.sendAll(...messages.slice(sent, sent + 50));
        await world.eventually(async () => {
          expect((await world.stored('orders')).length).toBeGreaterThan(sent);
        });
        await instances.shift()?.crash();
        instances.push(await world.listen('orders', { prefetch: 7 }));
      }

      expectOrder(await world.untilStored('orders', messages), messages);
    },
    { lacking: ['deliveries', 'crash'] },
  );

  trial(
    'a sender that crashes in the middle of a batch leaves it to another, in order',
    async (world) => {
      const [dying, next] = [await world.join('shop'), await world.join('shop')];
      await world.listen('orders');
      const messages = manyStreams(4, 20);

      dying.connection.send(messages, never).catch(() => {});
      await dying.crash();
      await next.sendAll(...messages);

      expectOrder(await world.untilStored('orders', messages), messages);
    },
    'crash',
  );

  trial(
    'a message that the broker loses in a batch is sent again before the later ones of its stream',
    async (world) => {
      const shop = await world.join('shop');
      await world.listen('orders');
      const messages = manyStreams(2, 10);
      await shop.instance.hold?.(messages);

      let unsent: readonly TransportMessage[] = messages;
      await world.subject.dropMiddleOf?.(async () => {
        unsent = await unsentOf(messages, () => shop.connection.send(messages, never));
      });
      await shop.connection.ready(never);
      if (unsent.length > 0) await shop.sendAll(...unsent);

      expectOrder(await world.untilStored('orders', messages), messages);
    },
    'dropMiddleOf',
  );
}

const idle = (world: World) => world.listen('orders', { prefetch: 100, stores: false });

/** What the worker sends again: all of a call that rejected, else what has no outcome that is final. */
async function unsentOf(
  messages: readonly TransportMessage[],
  send: () => Promise<readonly SendOutcome[]>,
): Promise<readonly TransportMessage[]> {
  try {
    const outcomes = await send();
    return messages.filter((_, i) => !['sent', 'settled'].includes(outcomes[i]?.kind ?? ''));
  } catch {
    return messages;
  }
}
