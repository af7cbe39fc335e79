import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { ids, message, messageOf, stream, World } from '../world.js';
import { type AzureSubject, azureSubject } from './subject.js';

const subscriptionOf = ({ standIn }: AzureSubject, service = 'orders') => {
  const found = standIn.namespace.subscription('whizbang', service);
  if (found === undefined) throw new Error(`The subscription of ${service} is missing.`);
  return found;
};

describe.concurrent('Azure Service Bus: sessions and their locks', () => {
  it('a session that is taken over after a crash begins with what was unacknowledged, before what waited behind', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    const shop = await world.join('shop');
    const crashed = await world.listen('orders', { prefetch: 5, stores: false });
    const messages = stream('orders', 25);
    await shop.sendAll(...messages);
    await crashed.untilReceived(5);
    await crashed.deliveries[0]?.acknowledge();
    const next = await world.listen('orders', { prefetch: 100, stores: false });

    subject.standIn.cutConnections();
    await crashed.connection.close();

    await next.untilReceived(24);
    expect(next.received).toEqual(ids(messages.slice(1)));
  });

  it('the sessions of an instance that falls silent go to another when their locks run out, in order', async () => {
    const subject = await azureSubject({ lockSeconds: 2 });
    await using world = new World(subject);
    const shop = await world.join('shop');
    const silent = await subject.join('orders');
    const handed: unknown[] = [];
    await silent.connection.receive({ addresses: ['orders'], prefetch: 5 }, (delivery) =>
      handed.push(delivery),
    );
    const messages = stream('orders', 25);
    await shop.sendAll(...messages);
    await eventually(() => expect(handed).toHaveLength(5));

    silent.fallSilent();
    const next = await world.listen('orders', { prefetch: 100, stores: false });

    await next.untilReceived(25);
    expect(next.received).toEqual(ids(messages));
    const closing = performance.now();
    await silent.connection.close();
    expect(performance.now() - closing).toBeLessThan(10_000);
  });

  it('after a lost lock the messages come again in their places, and a late acknowledgement changes nothing', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 3, stores: false });
    const messages = stream('orders', 20);
    await shop.sendAll(...messages);
    await orders.untilReceived(3);

    for (const holder of subscriptionOf(subject).holders()) holder.expire();
    await orders.untilReceived(6);
    await orders.deliveries[0]?.acknowledge();

    expect(orders.received.slice(3)).toEqual(ids(messages.slice(0, 3)));
    expect(subscriptionOf(subject).messages).toHaveLength(20);
    for (let i = 3; i < 23; i++) {
      await orders.untilReceived(i + 1);
      await orders.deliveries[i]?.acknowledge();
    }
    expect(orders.received.slice(3)).toEqual(ids(messages));
    await eventually(() => expect(subscriptionOf(subject).messages).toEqual([]));
  });

  it('a lock is renewed as long as a delivery is unacknowledged', async () => {
    const subject = await azureSubject({ lockSeconds: 2, holdSeconds: 60 });
    await using world = new World(subject);
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { stores: false });
    await shop.sendAll(message('orders'));
    await orders.untilReceived(1);

    const [holder] = subscriptionOf(subject).holders();
    const lockedUntil = holder?.lockedUntil ?? 0;
    await eventually(() => expect(Date.now()).toBeGreaterThan(lockedUntil + 2_000));

    expect(subscriptionOf(subject).holders()).toEqual([holder]);
    await orders.deliveries[0]?.acknowledge();
    expect(subscriptionOf(subject).messages).toEqual([]);
    expect(orders.deliveries).toHaveLength(1);
  });

  it('a message that is rejected 50 times is never given up, and nothing overtakes it', async () => {
    const subject = await azureSubject({ topology: 'check' });
    subject.standIn.namespace.createTopic('whizbang');
    const rules = { orders: { to: 'orders' } };
    subject.standIn.namespace.createSubscription('whizbang', 'orders', { maxDeliveryCount: 10, rules });
    await using world = new World(subject);
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 1, stores: false });
    const messages = stream('orders', 20);
    await shop.sendAll(...messages);

    for (let i = 0; i < 50; i++) {
      await orders.untilReceived(i + 1);
      await orders.deliveries[i]?.reject();
    }
    await orders.untilReceived(51);

    expect(new Set(orders.received)).toEqual(new Set([messages[0]?.messageId]));
    const { deadLetters, messages: waiting } = subscriptionOf(subject);
    expect([deadLetters.length, waiting.length, waiting[0]?.deliveryCount]).toEqual([0, 20, 0]);
  });

  it('the prefetch bounds the unacknowledged deliveries of all sessions together', async () => {
    await using world = new World(await azureSubject());
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 5, stores: false });
    const messages = Array.from({ length: 100 }, () => message('orders'));
    await shop.sendAll(...messages);

    for (let acknowledged = 0; acknowledged < 100; acknowledged++) {
      await orders.untilReceived(Math.min(acknowledged + 5, 100));
      expect(orders.deliveries.length - acknowledged).toBeLessThanOrEqual(5);
      await orders.deliveries[acknowledged]?.acknowledge();
    }

    expect(orders.received.toSorted()).toEqual(ids(messages).toSorted());
  });

  it('a session that is never idle moves to an instance that came later', async () => {
    const subject = await azureSubject({ shards: 1, holdSeconds: 1 });
    await using world = new World(subject);
    const shop = await world.join('shop');
    await world.listen('orders', { prefetch: 10 });
    const later = await world.listen('orders', { prefetch: 10 });
    const messages: ReturnType<typeof stream> = [];
    const streamId = randomUUID();

    await eventually(async () => {
      const next = stream('orders', 5, streamId);
      messages.push(...next);
      await shop.sendAll(...next);
      expect(later.deliveries.length).toBeGreaterThan(0);
    });

    const stored = await world.untilStored('orders', messages);
    expect(ids(stored)).toEqual(ids(messages));
  });

  it('an instance that waits for a session stops and closes at once', async () => {
    await using world = new World(await azureSubject());
    const orders = await world.listen('orders');
    const started = performance.now();

    await orders.receiver?.stop();
    await orders.connection.close();

    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('a receiver that stopped while it waited for a session leaves the next message to another', async () => {
    await using world = new World(await azureSubject());
    const shop = await world.join('shop');
    const stopped = await world.listen('orders');
    await stopped.receiver?.stop();
    const other = await world.listen('orders', { stores: false });

    const sent = message('orders');
    await shop.sendAll(sent);

    await other.untilReceived(1);
    expect(messageOf(other.deliveries[0] as never).messageId).toBe(sent.messageId);
    expect(stopped.deliveries).toEqual([]);
  });
});
