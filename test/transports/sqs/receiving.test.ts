import { SQS } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/transports/index.js';
import { eventually } from '../../support/eventually.js';
import { ids, message, messageOf, World } from '../world.js';
import { type AwsNetwork, sqsRefusal } from './aws-network.js';
import { credentials, makeSqsSubject, publishForeign, region, standIn, standInUrl } from './sqs-subject.js';

const sqs = new SQS({ region, endpoint: standInUrl, credentials, useQueueUrlAsEndpoint: false });
const queueOf = (topic: string) => standIn.inspectQueue(`${topic}-orders.fifo`);

describe('What SQS delivers', () => {
  it.each(['not a message', '{"hello": "world"}'])(
    'a body that is no message is delivered as unreadable, and holds nothing up: %s',
    async (body) => {
      const subject = await makeSqsSubject();
      await using world = new World(subject);
      const orders = await world.listen('orders', { stores: false });
      await publishForeign(subject.topic, 'orders', body);
      await orders.untilReceived(1);
      const [unreadable] = orders.deliveries as [Delivery];
      expect(unreadable.content).toMatchObject({
        address: 'orders',
        unreadable: expect.stringMatching(/\w/),
      });
      expect(Buffer.from((unreadable.content as { bytes: Uint8Array }).bytes).toString()).toBe(body);

      await unreadable.acknowledge();
      const readable = message('orders');
      await orders.sendAll(readable);

      await orders.untilReceived(2);
      expect(messageOf(orders.deliveries[1] as Delivery).messageId).toBe(readable.messageId);
      expect(queueOf(subject.topic)?.messages.inflight).toHaveLength(1);
    },
  );

  it('a CloudEvent that a program puts into the queue itself is addressed to its service', async () => {
    const subject = await makeSqsSubject();
    await using world = new World(subject);
    const orders = await world.listen('orders', { stores: false });
    const event = { specversion: '1.0', id: '7', source: '/till', type: 'sold', data: { total: 3 } };

    await sqs.sendMessage({
      QueueUrl: queueOf(subject.topic)?.url,
      MessageBody: JSON.stringify(event),
      MessageGroupId: 'till',
      MessageDeduplicationId: '7',
    });

    await orders.untilReceived(1);
    const { address, type, payload } = messageOf(orders.deliveries[0] as Delivery);
    expect({ address, type, payload }).toEqual({ address: 'orders', type: 'sold', payload: { total: 3 } });
  });

  it('acknowledgements that come together are deleted in tens', async () => {
    const subject = await makeSqsSubject();
    await using world = new World(subject);
    const shop = await world.join('shop');
    const orders = await world.listen('orders', { prefetch: 100, stores: false });
    await shop.sendAll(...Array.from({ length: 25 }, () => message('orders')));
    await orders.untilReceived(25);

    await Promise.all(orders.deliveries.map((delivery) => delivery.acknowledge()));

    expect(deletions(subject.networks)).toBe(3);
    expect(queueOf(subject.topic)?.messages).toEqual({ ready: [], delayed: [], inflight: [] });
  });

  it('a message whose lock SQS has taken away is left to its next holder', async () => {
    const subject = await makeSqsSubject();
    await using world = new World(subject);
    const shop = await world.join('shop');
    const slow = await world.listen('orders', { stores: false });
    const network = subject.networks.at(-1) as AwsNetwork;
    network.intercept = ({ action }) =>
      action === 'ChangeMessageVisibilityBatch' ? sqsRefusal('InternalError', 'down', 500) : undefined;
    const sent = message('orders');
    await shop.sendAll(sent);
    await slow.untilReceived(1);
    await slow.receiver?.stop();

    const other = await world.listen('orders', { stores: false });
    await other.untilReceived(1);
    network.intercept = undefined;
    await eventually(() => expect(network.actions.at(-1)).toBe('ChangeMessageVisibilityBatch'));
    await slow.deliveries[0]?.acknowledge();

    expect(other.received).toEqual([sent.messageId]);
    expect(queueOf(subject.topic)?.messages.inflight).toHaveLength(1);
    await other.deliveries[0]?.acknowledge();
    expect(queueOf(subject.topic)?.messages.inflight).toHaveLength(0);
  });

  it('a queue that is deleted is declared again, and deliveries go on', async () => {
    const subject = await makeSqsSubject();
    await using world = new World(subject);
    const orders = await world.listen('orders', { stores: false });

    standIn.deleteQueue(`${subject.topic}-orders.fifo`, { region });
    await eventually(() => expect(queueOf(subject.topic)).toBeDefined());
    const sent = message('orders');

    await orders.sendAll(sent);
    await orders.untilReceived(1);
    expect(orders.received).toEqual(ids([sent]));
  });

  it('the queue of a service tells how much waits and how much is unacknowledged', async () => {
    const subject = await makeSqsSubject();
    await using world = new World(subject);
    const orders = await world.listen('orders', { prefetch: 2, stores: false });
    await orders.sendAll(...Array.from({ length: 5 }, () => message('orders')));
    await orders.untilReceived(2);

    expect(await orders.connection.inspect?.()).toEqual([
      {
        name: `${subject.topic}-orders.fifo`,
        depth: 3,
        unacknowledged: 2,
        consumers: null,
        oldestSeconds: null,
      },
    ]);
  });
});

const deletions = (networks: readonly AwsNetwork[]) =>
  networks.flatMap(({ actions }) => actions).filter((action) => action === 'DeleteMessageBatch').length;
