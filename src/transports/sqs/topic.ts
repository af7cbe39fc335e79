import { WhizbangError } from '../../errors.js';
import type { Aws } from './aws.js';
import { refusesRequest, saysMissing } from './aws-errors.js';
import type { SqsSettings } from './sqs-options.js';

/** What a topic takes unless it is told otherwise. */
const usualBytes = 262_144;

/**
 * Returns the ARN of the topic that all services share, made or checked as the option topology says. One topic and not
 * one for each address: two topics hand over to a queue independently, so a stream with messages at both could change
 * its order on the way.
 */
export async function openTopic(aws: Aws, settings: SqsSettings, signal: AbortSignal): Promise<string> {
  const { topology, topicName, topicArn, maxMessageBytes } = settings;
  const name = `${topicName}.fifo`;
  const arn =
    topology === 'declare' && topicArn === undefined
      ? await declareTopic(aws, name, maxMessageBytes, signal)
      : (topicArn ?? (await findTopic(aws, name, signal)));
  if (topology === 'off') return arn;
  const attributes = await topicAttributes(aws, arn, signal).catch((error: unknown) => {
    throw saysMissing(error) ? missingTopic(name, error) : error;
  });
  const allowed = Number(attributes.MaximumMessageSize ?? usualBytes);
  if (allowed < maxMessageBytes) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `The topic ${name} takes messages of ${allowed} bytes, less than maxMessageBytes of sqsTransport, which is ${maxMessageBytes}.`,
      hint: `Lower maxMessageBytes, or run: aws sns set-topic-attributes --topic-arn ${arn} --attribute-name MaximumMessageSize --attribute-value ${maxMessageBytes}`,
      details: { option: 'maxMessageBytes', topic: arn, allowed },
    });
  }
  return arn;
}

/** What the topic is like. Also the way to see whether SNS can be reached. */
export async function topicAttributes(
  aws: Aws,
  arn: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const request = { action: 'sns:GetTopicAttributes', resource: arn, signal };
  const { Attributes = {} } = await aws.request(request, (options) =>
    aws.sns.getTopicAttributes({ TopicArn: arn }, options),
  );
  return Attributes;
}

async function declareTopic(aws: Aws, name: string, maxBytes: number, signal: AbortSignal): Promise<string> {
  const request = { action: 'sns:CreateTopic', resource: `arn:aws:sns:*:*:${name}`, signal };
  const create = async (attributes: Record<string, string>) => {
    const { TopicArn } = await aws.request(request, (options) =>
      aws.sns.createTopic({ Name: name, Attributes: { FifoTopic: 'true', ...attributes } }, options),
    );
    return TopicArn as string;
  };
  try {
    return await create({
      // A message has the same group for ever, so this scope finds the same duplicates, and it is the fast one.
      FifoThroughputScope: 'MessageGroup',
      ...(maxBytes > usualBytes && { MaximumMessageSize: String(maxBytes) }),
    });
  } catch (error) {
    // It is there with other attributes. Those that matter are looked at afterwards.
    if (refusesRequest(error)) return create({});
    throw error;
  }
}

async function findTopic(aws: Aws, name: string, signal: AbortSignal): Promise<string> {
  let next: string | undefined;
  do {
    const page = await aws.request({ action: 'sns:ListTopics', resource: '*', signal }, (options) =>
      aws.sns.listTopics(next === undefined ? {} : { NextToken: next }, options),
    );
    const found = page.Topics?.find(({ TopicArn }) => TopicArn?.endsWith(`:${name}`));
    if (found?.TopicArn !== undefined) return found.TopicArn;
    next = page.NextToken;
  } while (next !== undefined);
  throw missingTopic(name);
}

function missingTopic(name: string, cause?: unknown): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `The topic ${name} does not exist in this account and region.`,
    hint: `Set topology: 'declare', or run: aws sns create-topic --name ${name} --attributes FifoTopic=true,FifoThroughputScope=MessageGroup`,
    details: { option: 'topology', missing: 'topic', topic: name },
    cause,
  });
}
