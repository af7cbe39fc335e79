import { describe, expect, it } from 'vitest';
import { type SqsTransportOptions, sqsTransport } from '../../../src/sqs.js';
import { queueName } from '../../../src/transports/sqs/queue.js';
import { resolveSqsOptions } from '../../../src/transports/sqs/sqs-options.js';
import { message, never } from '../world.js';
import { type AwsNetwork, snsRefusal, sqsRefusal, startAwsNetwork } from './aws-network.js';
import { arnOf, credentials, freshTopic, host, standInUrl, start, transportAt } from './sqs-subject.js';

describe('Credentials and rights', () => {
  async function refusing(intercept: AwsNetwork['intercept']): Promise<unknown> {
    await using network = await startAwsNetwork(standInUrl);
    network.intercept = intercept;
    return await start({ topic: freshTopic() }, ['orders'], network.url).catch((error: unknown) => error);
  }

  it.each(['InvalidClientTokenId', 'SignatureDoesNotMatch'])(
    'wrong keys are refused at the start, and never shown: %s',
    async (code) => {
      const error = await refusing(() => snsRefusal(code, 'The security token is invalid.', 403));
      expect(error).toMatchObject({ code: 'INVALID_OPTION', details: { option: 'credentials' } });
      expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(
        credentials.secretAccessKey,
      );
    },
  );

  it.each(['GetQueueUrl', 'CreateQueue', 'SetQueueAttributes'])(
    'a right to SQS that is missing is refused with the line that the policy lacks: %s',
    async (action) => {
      const error = await refusing((asked) =>
        asked.action === action ? sqsRefusal('AccessDenied', 'no', 403) : undefined,
      );
      expect(error).toMatchObject({
        code: 'PERMISSION_DENIED',
        hint: expect.stringContaining(`"Action": "sqs:${action}", "Resource": "arn:aws:sqs:`),
      });
    },
  );

  it.each(['CreateTopic', 'Subscribe', 'ListSubscriptionsByTopic'])(
    'a right to SNS that is missing is refused with the line that the policy lacks: %s',
    async (action) => {
      const error = await refusing((asked) =>
        asked.action === action ? snsRefusal('AuthorizationError', 'no', 403) : undefined,
      );
      expect(error).toMatchObject({
        code: 'PERMISSION_DENIED',
        hint: expect.stringContaining(`"Action": "sns:${action}", "Resource": "arn:aws:sns:`),
      });
    },
  );

  it('a role that may only publish sends, with the topic by its ARN and topology off', async () => {
    const topic = freshTopic();
    await start({ topic });
    await using network = await startAwsNetwork(standInUrl);
    network.intercept = ({ action }) =>
      action === 'PublishBatch' ? undefined : snsRefusal('AuthorizationError', 'no', 403);
    const transport = transportAt(network.url, { topic: arnOf(topic), topology: 'off' });
    const connection = await transport.connect(host('shop'));

    await connection.ready(never);
    expect(await connection.send([message('orders')], never)).toEqual([{ kind: 'sent' }]);
    await connection.close();
  });
});

describe('Options of sqsTransport', () => {
  it.each([
    [{ topology: 'create' }, 'topology'],
    [{ region: 'Frankfurt am Main' }, 'region'],
    [{ endpoint: 'localhost:4566' }, 'endpoint'],
    [{ credentials: { accessKeyId: 'a' } }, 'credentials'],
    [{ credentials: null }, 'credentials'],
    [{ topic: 'with-hyphen' }, 'topic'],
    [{ topic: 'whizbang.fifo' }, 'topic'],
    [{ topic: 'arn:aws:sns:eu-central-1:000000000000:standard' }, 'topic'],
    [{ maxMessageBytes: 1_048_577 }, 'maxMessageBytes'],
    [{ maxMessageBytes: 1_023 }, 'maxMessageBytes'],
    [{ visibilitySeconds: 0 }, 'visibilitySeconds'],
    [{ visibilitySeconds: 43_201 }, 'visibilitySeconds'],
    [{ waitSeconds: 21 }, 'waitSeconds'],
    [{ waitSeconds: 0.5 }, 'waitSeconds'],
    [{ visibleSeconds: 3 }, 'visibleSeconds'],
  ])('an option that is wrong is refused by its name, before anything is asked: %j', (options, option) => {
    expect(() => sqsTransport(options as SqsTransportOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ option }) }),
    );
  });

  it('options at both ends of their bounds are taken', () => {
    sqsTransport({ maxMessageBytes: 1_024, visibilitySeconds: 1, waitSeconds: 0 });
    sqsTransport({ maxMessageBytes: 1_048_576, visibilitySeconds: 43_200, waitSeconds: 20 });
    expect(sqsTransport().traits).toEqual({
      moves: 'stream',
      sent: 'replicated',
      knowsReceivers: false,
      maxMessageBytes: 262_144,
    });
  });

  it('the names of queues fit into 80 characters, and differ where those of services do', () => {
    const settings = resolveSqsOptions({ topic: 't'.repeat(40) });
    const services = [
      'a.b',
      'a_2eb',
      'a_b',
      'a__b',
      'Orders',
      'orders',
      `${'o'.repeat(99)}1`,
      `${'o'.repeat(99)}2`,
    ];
    const names = services.map((service) => queueName(settings, service));
    expect(new Set(names).size).toBe(services.length);
    for (const name of names) expect(name).toMatch(/^[\w-]{1,75}\.fifo$/);
  });
});
