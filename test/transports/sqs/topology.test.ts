import { SQS } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { startAwsNetwork } from './aws-network.js';
import {
  arnOf,
  credentials,
  freshTopic,
  host,
  region,
  sns,
  standIn,
  standInUrl,
  start,
  transportAt,
} from './sqs-subject.js';

const sqs = new SQS({ region, endpoint: standInUrl, credentials, useQueueUrlAsEndpoint: false });
const attributesOf = (topic: string) => standIn.inspectQueue(`${topic}-orders.fifo`)?.attributes ?? {};

async function filterOf(topic: string): Promise<readonly unknown[]> {
  const { Subscriptions } = await sns.listSubscriptionsByTopic({ TopicArn: arnOf(topic) });
  const [subscription] = Subscriptions ?? [];
  const { Attributes } = await sns.getSubscriptionAttributes({
    SubscriptionArn: subscription?.SubscriptionArn,
  });
  expect(Subscriptions).toHaveLength(1);
  expect(Attributes?.RawMessageDelivery).toBe('true');
  return JSON.parse(Attributes?.FilterPolicy ?? '{}').address;
}

async function set(topic: string, attributes: Record<string, string>): Promise<void> {
  const { QueueUrl } = await sqs.getQueueUrl({ QueueName: `${topic}-orders.fifo` });
  await sqs.setQueueAttributes({ QueueUrl, Attributes: attributes });
}

describe('Topic, queue and subscription', () => {
  it('declared, a queue keeps messages for 14 days, gives up none, and lets the topic in', async () => {
    const topic = freshTopic();
    await start({ topic });

    const { Policy = '{}', ...attributes } = attributesOf(topic);
    expect(attributes).toMatchObject({
      FifoQueue: 'true',
      MessageRetentionPeriod: '1209600',
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
    });
    expect(attributes).not.toHaveProperty('RedrivePolicy');
    expect(JSON.parse(Policy).Statement).toEqual([
      {
        Effect: 'Allow',
        Principal: { Service: 'sns.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Resource: attributes.QueueArn,
        Condition: { ArnEquals: { 'aws:SourceArn': arnOf(topic) } },
      },
    ]);
  });

  it('declared again, what is there is kept, what could lose messages is set, and addresses are added', async () => {
    const topic = freshTopic();
    await start({ topic }, ['orders', 'OrderPlaced']);
    const other = { Version: '2012-10-17', Statement: [{ Sid: 'other' }] };
    await set(topic, {
      MessageRetentionPeriod: '345600',
      MaximumMessageSize: '2048',
      Policy: JSON.stringify(other),
    });

    await start({ topic }, ['orders', 'OrderPaid']);

    const { MessageRetentionPeriod, MaximumMessageSize, Policy = '' } = attributesOf(topic);
    expect([MessageRetentionPeriod, MaximumMessageSize]).toEqual(['1209600', '262144']);
    expect(JSON.parse(Policy).Statement).toMatchObject([{ Sid: 'other' }, { Action: 'sqs:SendMessage' }]);
    expect(await filterOf(topic)).toEqual(['orders', 'OrderPlaced', 'OrderPaid']);
  });

  it('an instance that declares looks for the doctor without declaring: a queue that loses messages stays as it is', async () => {
    const topic = freshTopic();
    await start({ topic });
    await set(topic, { MessageRetentionPeriod: '345600' });
    const connection = await transportAt(standInUrl, { topic, topology: 'declare' }).connect(host('orders'));
    const found = await connection.examine?.();
    await connection.close();
    expect(found).toMatchObject([
      { level: 'fault', text: expect.stringContaining('MessageRetentionPeriod 345600') },
    ]);
    expect(attributesOf(topic).MessageRetentionPeriod).toBe('345600');
  });

  it('ten instances that start at once declare one queue and one subscription', async () => {
    const topic = freshTopic();
    await Promise.all(Array.from({ length: 10 }, () => start({ topic })));
    expect(await filterOf(topic)).toEqual(['orders']);
  });

  it.each(['check', 'off'] as const)(
    'a topic that is missing is refused with the command: topology %s',
    async (topology) => {
      const topic = freshTopic();
      await expect(start({ topic, topology })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(`${topic}.fifo does not exist`),
        hint: expect.stringContaining(`aws sns create-topic --name ${topic}.fifo`),
      });
    },
  );

  it.each(['check', 'off'] as const)(
    'a queue that is missing is refused with the command: topology %s',
    async (topology) => {
      const topic = freshTopic();
      await (await transportAt(standInUrl, { topic }).connect(host('shop'))).close();
      await expect(start({ topic, topology })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        hint: expect.stringContaining(`aws sqs create-queue --queue-name ${topic}-orders.fifo`),
      });
    },
  );

  it.each([{ MessageRetentionPeriod: '60' }, { MaximumMessageSize: '1024' }, { Policy: '' }])(
    'an attribute with which messages are lost is refused by a check, with the command: %j',
    async (attributes) => {
      const topic = freshTopic();
      await start({ topic });
      await start({ topic, topology: 'check' });
      await set(topic, attributes as Record<string, string>);

      const [attribute] = Object.keys(attributes);
      await expect(start({ topic, topology: 'check' })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        hint: expect.stringMatching(/aws sqs set-queue-attributes --queue-url http/),
        details: { attribute },
      });
    },
  );

  it('a check refuses a subscription that lacks an address', async () => {
    const topic = freshTopic();
    await start({ topic });
    await expect(start({ topic, topology: 'check' }, ['orders', 'OrderPlaced'])).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { attribute: 'FilterPolicy' },
    });
    expect(await filterOf(topic)).toEqual(['orders']);
  });

  it.each(['declare', 'check'] as const)(
    'a queue that gives up by itself is refused: topology %s',
    async (topology) => {
      const topic = freshTopic();
      await start({ topic });
      const { queueArn } = standIn.createQueue(`${topic}-dead.fifo`, { region });
      await set(topic, {
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn, maxReceiveCount: 5 }),
      });

      await expect(start({ topic, topology })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining('redrive policy'),
        hint: expect.stringContaining('"RedrivePolicy": ""'),
      });
    },
  );

  it('a topic that takes less than maxMessageBytes is refused', async () => {
    const topic = freshTopic();
    await start({ topic });
    await expect(start({ topic, maxMessageBytes: 1_000_000 })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'maxMessageBytes', allowed: 262_144 },
    });
  });

  it('more addresses than SNS can filter by are refused', async () => {
    const topic = freshTopic();
    const addresses = Array.from({ length: 151 }, (_, i) => `Event${i}`);
    await start({ topic }, addresses.slice(1));
    await expect(start({ topic }, addresses)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { max: 150 },
    });
    await expect(start({ topic: freshTopic() }, addresses)).rejects.toMatchObject({ details: { max: 150 } });
  });

  it('a topic given by its ARN needs no right to list or create topics', async () => {
    const topic = freshTopic();
    await start({ topic });
    await using network = await startAwsNetwork(standInUrl);
    for (const topology of ['declare', 'check', 'off'] as const)
      await start({ topic: arnOf(topic), topology }, ['orders'], network.url);
    expect(network.actions).not.toContain('CreateTopic');
    expect(network.actions).not.toContain('ListTopics');
  });
});
