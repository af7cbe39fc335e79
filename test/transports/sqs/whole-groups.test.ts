import { afterAll, describe, expect, it } from 'vitest';
import { closing } from '../conformance/closing.js';
import { order } from '../conformance/order.js';
import { outages } from '../conformance/outages.js';
import { casesOf, runCase } from '../conformance/trial.js';
import { expectOrder, ids, stream, World } from '../world.js';
import { makeSqsSubject } from './sqs-subject.js';
import { handOutWholeGroups } from './whole-groups.js';

afterAll(handOutWholeGroups());

/** Those on acknowledging count on one message of a stream at a time; their likes for whole groups are below. */
const sections = { order, outages, closing };

describe.concurrent.each(Object.entries(sections))('sqs that hands out whole groups: %s', (_, section) => {
  for (const each of casesOf(section)) {
    it(each.name, async () => {
      expect(await runCase(each, makeSqsSubject, {})).toEqual({ kind: 'passed' });
    });
  }
});

/** A stream of 25 messages that wait in the queue before anybody listens. */
async function waiting(world: World) {
  const shop = await world.join('shop');
  await (await world.listen('orders')).connection.close();
  const messages = stream('orders', 25);
  await shop.sendAll(...messages);
  return messages;
}

describe.concurrent('Several messages of a group with one instance', () => {
  it('a rejected message takes along the later ones of its group, and they come again in order', async () => {
    await using world = new World(await makeSqsSubject());
    const messages = await waiting(world);
    const orders = await world.listen('orders', { stores: false });
    await orders.untilReceived(10);
    expect(orders.received).toEqual(ids(messages.slice(0, 10)));

    for (const delivery of orders.deliveries.slice(0, 3)) await orders.store(delivery);
    await orders.deliveries[3]?.reject();
    for (const delivery of orders.deliveries.slice(4, 10)) await delivery.acknowledge();

    await orders.untilReceived(20);
    expect(orders.received.slice(10)).toEqual(ids(messages.slice(3, 13)));
  });

  it('nothing of a group comes while an earlier one is unacknowledged, though a later one was rejected', async () => {
    await using world = new World(await makeSqsSubject());
    const messages = await waiting(world);
    const orders = await world.listen('orders', { stores: false });
    await orders.untilReceived(10);

    await orders.deliveries[5]?.reject();
    await world.whileOthersTalk();
    expect(orders.deliveries).toHaveLength(10);
    for (const delivery of orders.deliveries.slice(0, 5)) await orders.store(delivery);

    await orders.untilReceived(20);
    expect(orders.received.slice(10)).toEqual(ids(messages.slice(5, 15)));
  });

  it('a group whose instance closes or crashes goes on from its first unacknowledged message', async () => {
    await using world = new World(await makeSqsSubject());
    const messages = await waiting(world);
    const closed = await world.listen('orders', { stores: false });
    await closed.untilReceived(10);
    await closed.store(closed.deliveries[0]);
    await closed.connection.close();
    const crashed = await world.listen('orders', { stores: false });
    await crashed.untilReceived(10);
    expect(crashed.received).toEqual(ids(messages.slice(1, 11)));
    await crashed.store(crashed.deliveries[0]);
    await crashed.crash();

    const last = await world.listen('orders');

    expectOrder(await world.untilStored('orders', messages), messages);
    expect(last.received).toEqual(ids(messages.slice(2)));
  });
});
