import { WhizbangError } from '../../errors.js';
import type { Aws } from './aws.js';
import { refusesRequest } from './aws-errors.js';
import type { OpenQueue } from './queue.js';
import type { SqsSettings } from './sqs-options.js';

/** A filter policy has no more values. */
const mostAddresses = 150;
const filterTries = 5;

/**
 * Has the topic put into the queue what is sent to these addresses, or checks that it does. Addresses are only added: an
 * instance of another version may listen to those that this one does not know.
 */
export async function openSubscription(
  aws: Aws,
  { topology }: SqsSettings,
  topicArn: string,
  queue: OpenQueue,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (topology === 'off') return;
  const declares = topology === 'declare';
  const found = await findSubscription(aws, topicArn, queue, signal);
  const arn = found ?? (declares ? await subscribe(aws, topicArn, queue, addresses, signal) : undefined);
  if (arn === undefined) throw differing(queue, topicArn, 'is not subscribed to the topic', 'subscription');
  // Two instances that add at the same time overwrite each other: whoever does not find its own adds them again.
  for (let tries = 1; ; tries++) {
    const attributes = await attributesOf(aws, arn, signal);
    const wanted = differences(attributes, addresses);
    if (wanted.length === 0) return;
    const [name, value] = wanted[0] as readonly [string, string];
    if (!declares || tries > filterTries)
      throw differing(
        queue,
        topicArn,
        `has a subscription whose ${name} is ${attributes[name] ?? '(none)'}`,
        name,
      );
    if (name === 'FilterPolicy') refuseTooMany(JSON.parse(value).address, queue);
    const request = { action: 'sns:SetSubscriptionAttributes', resource: topicArn, signal };
    await aws.request(request, (options) =>
      aws.sns.setSubscriptionAttributes(
        { SubscriptionArn: arn, AttributeName: name, AttributeValue: value },
        options,
      ),
    );
  }
}

async function findSubscription(
  aws: Aws,
  topicArn: string,
  queue: OpenQueue,
  signal: AbortSignal,
): Promise<string | undefined> {
  let next: string | undefined;
  const request = { action: 'sns:ListSubscriptionsByTopic', resource: topicArn, signal };
  do {
    const page = await aws.request(request, (options) =>
      aws.sns.listSubscriptionsByTopic(
        { TopicArn: topicArn, ...(next !== undefined && { NextToken: next }) },
        options,
      ),
    );
    const found = page.Subscriptions?.find(({ Endpoint }) => Endpoint === queue.arn);
    if (found?.SubscriptionArn !== undefined) return found.SubscriptionArn;
    next = page.NextToken;
  } while (next !== undefined);
  return undefined;
}

async function subscribe(
  aws: Aws,
  topicArn: string,
  queue: OpenQueue,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  refuseTooMany(addresses, queue);
  const Attributes = { RawMessageDelivery: 'true', FilterPolicy: JSON.stringify({ address: addresses }) };
  try {
    const { SubscriptionArn } = await aws.request(
      { action: 'sns:Subscribe', resource: topicArn, signal },
      (options) =>
        aws.sns.subscribe(
          {
            TopicArn: topicArn,
            Protocol: 'sqs',
            Endpoint: queue.arn,
            Attributes,
            ReturnSubscriptionArn: true,
          },
          options,
        ),
    );
    return SubscriptionArn;
  } catch (error) {
    // Another instance was faster, with other addresses.
    const found = refusesRequest(error) ? await findSubscription(aws, topicArn, queue, signal) : undefined;
    if (found === undefined) throw error;
    return found;
  }
}

async function attributesOf(
  aws: Aws,
  arn: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const request = { action: 'sns:GetSubscriptionAttributes', resource: arn, signal };
  const { Attributes = {} } = await aws.request(request, (options) =>
    aws.sns.getSubscriptionAttributes({ SubscriptionArn: arn }, options),
  );
  return Attributes;
}

/** The attributes that have to be set, with their values. */
function differences(
  attributes: Readonly<Record<string, string>>,
  addresses: readonly string[],
): readonly (readonly [string, string])[] {
  const { address = [] } = JSON.parse(attributes.FilterPolicy || '{}') as { address?: readonly unknown[] };
  const added = addresses.filter((each) => !address.includes(each));
  const policy = JSON.stringify({ address: [...address, ...added] });
  return [
    ...(attributes.RawMessageDelivery === 'true' ? [] : [['RawMessageDelivery', 'true'] as const]),
    ...(added.length === 0 ? [] : [['FilterPolicy', policy] as const]),
  ];
}

function refuseTooMany(addresses: readonly unknown[], { name }: OpenQueue): void {
  if (addresses.length <= mostAddresses) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `The service of the queue ${name} would listen to ${addresses.length} addresses. SNS filters by ${mostAddresses} at most.`,
    hint: 'Give several events the same topic, divide the service, or remove addresses that nothing is sent to any more from the filter policy of the subscription.',
    details: { option: 'addresses', queue: name, addresses: addresses.length, max: mostAddresses },
  });
}

function differing(queue: OpenQueue, topicArn: string, fact: string, attribute: string): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `The queue ${queue.name} ${fact}, so it would not get its messages.`,
    hint: `Set topology: 'declare' for one start, or see docs/transports/sqs.md for the commands. The topic is ${topicArn}.`,
    details: { option: 'topology', queue: queue.name, attribute },
  });
}
