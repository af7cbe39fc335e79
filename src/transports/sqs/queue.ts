import { WhizbangError } from '../../errors.js';
import { addressName } from '../wire/address-name.js';
import type { Aws } from './aws.js';
import { saysMissing } from './aws-errors.js';
import type { SqsSettings } from './sqs-options.js';

export interface OpenQueue {
  readonly name: string;
  readonly url: string;
  readonly arn: string;
}

/** 14 days, the most that SQS keeps a message. */
const retentionSeconds = 1_209_600;
const longestName = 80;

/** The name of a service's queue. Two services never have the same. */
export function queueName({ topicName }: SqsSettings, service: string): string {
  const [before, after] = [`${topicName}-`, '.fifo'];
  return before + addressName(service, { max: longestName - before.length - after.length }) + after;
}

/** Returns the queue of a service, made or checked as the option topology says. */
export async function openQueue(
  aws: Aws,
  settings: SqsSettings,
  service: string,
  topicArn: string,
  signal: AbortSignal,
): Promise<OpenQueue> {
  const name = queueName(settings, service);
  const declares = settings.topology === 'declare';
  const url =
    (await findQueue(aws, name, signal)) ?? (declares ? await createQueue(aws, name, signal) : undefined);
  if (url === undefined) throw missingQueue(name);
  const request = { action: 'sqs:GetQueueAttributes', resource: resourceOf(name), signal };
  if (settings.topology === 'off') return { name, url, arn: '' };
  const { Attributes = {} } = await aws.request(request, (options) =>
    aws.sqs.getQueueAttributes({ QueueUrl: url, AttributeNames: ['All'] }, options),
  );
  const arn = Attributes.QueueArn as string;
  refuseRedrive(name, url, Attributes.RedrivePolicy);
  const wanted = differences(Attributes, arn, topicArn, settings.maxMessageBytes);
  if (Object.keys(wanted).length > 0) {
    if (!declares) throw differingQueue(name, url, Attributes, wanted);
    await aws.request({ action: 'sqs:SetQueueAttributes', resource: arn, signal }, (options) =>
      aws.sqs.setQueueAttributes({ QueueUrl: url, Attributes: wanted }, options),
    );
  }
  return { name, url, arn };
}

export const resourceOf = (name: string): string => `arn:aws:sqs:*:*:${name}`;

/** Its URL. Undefined: there is none. */
export async function findQueue(aws: Aws, name: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const request = { action: 'sqs:GetQueueUrl', resource: resourceOf(name), signal };
    const { QueueUrl } = await aws.request(request, (options) =>
      aws.sqs.getQueueUrl({ QueueName: name }, options),
    );
    return QueueUrl;
  } catch (error) {
    if (saysMissing(error)) return undefined;
    throw error;
  }
}

async function createQueue(aws: Aws, name: string, signal: AbortSignal): Promise<string> {
  const Attributes = {
    FifoQueue: 'true',
    // A message has the same group for ever, so this scope finds the same duplicates, and it is the fast one.
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
    MessageRetentionPeriod: String(retentionSeconds),
  };
  const request = { action: 'sqs:CreateQueue', resource: resourceOf(name), signal };
  const { QueueUrl } = await aws.request(request, (options) =>
    aws.sqs.createQueue({ QueueName: name, Attributes }, options),
  );
  return QueueUrl as string;
}

/** What has to be set so that nothing is lost on the way into the queue or in it. */
function differences(
  attributes: Readonly<Record<string, string>>,
  arn: string,
  topicArn: string,
  maxBytes: number,
): Record<string, string> {
  return {
    ...(Number(attributes.MessageRetentionPeriod) < retentionSeconds && {
      MessageRetentionPeriod: String(retentionSeconds),
    }),
    // SNS drops what is too large for the queue, and tells nobody.
    ...(Number(attributes.MaximumMessageSize) < maxBytes && { MaximumMessageSize: String(maxBytes) }),
    // SNS drops what it may not put into the queue, and tells nobody.
    ...(!attributes.Policy?.includes(`"${topicArn}"`) && {
      Policy: withStatement(attributes.Policy, arn, topicArn),
    }),
  };
}

function withStatement(policy: string | undefined, queueArn: string, topicArn: string): string {
  const { Statement = [], ...rest } = (policy ? JSON.parse(policy) : { Version: '2012-10-17' }) as {
    readonly Statement?: readonly unknown[];
  };
  const statement = {
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: queueArn,
    Condition: { ArnEquals: { 'aws:SourceArn': topicArn } },
  };
  return JSON.stringify({ ...rest, Statement: [Statement, statement].flat() });
}

/** A queue that gives up by itself makes holes in streams. Somebody has set that on purpose, so it is left to people. */
function refuseRedrive(name: string, url: string, redrive: string | undefined): void {
  if (!redrive) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `The queue ${name} has a redrive policy (${redrive}): after some deliveries SQS takes a message out, and its stream goes on without it.`,
    hint: `Dead letters are kept by Whizbang, in order. Run: aws sqs set-queue-attributes --queue-url ${url} --attributes '{"RedrivePolicy": ""}'`,
    details: { option: 'topology', queue: name, attribute: 'RedrivePolicy' },
  });
}

function differingQueue(
  name: string,
  url: string,
  present: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): WhizbangError {
  const [attribute, value] = Object.entries(wanted)[0] as [string, string];
  return new WhizbangError('INVALID_OPTION', {
    message: `The queue ${name} has the ${attribute} ${present[attribute] ?? '(none)'}, with which messages can be lost.`,
    hint: `Set topology: 'declare', or run: aws sqs set-queue-attributes --queue-url ${url} --attributes '${JSON.stringify({ [attribute]: value })}'`,
    details: { option: 'topology', queue: name, attribute, wanted },
  });
}

function missingQueue(name: string): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `The queue ${name} does not exist in this account and region.`,
    hint: `Set topology: 'declare', or run: aws sqs create-queue --queue-name ${name} --attributes FifoQueue=true,DeduplicationScope=messageGroup,FifoThroughputLimit=perMessageGroupId,MessageRetentionPeriod=${retentionSeconds}`,
    details: { option: 'topology', missing: 'queue', queue: name },
  });
}
