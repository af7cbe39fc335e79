import { invalidOption, type OptionTable, resolveOptions } from '../../options.js';

/** Keys of AWS. They are never logged. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** When the client asks for new ones. */
  readonly expiration?: Date | undefined;
}

/** Options of `sqsTransport`. What is left out is taken from where the AWS SDK finds it: environment, files, role. */
export interface SqsTransportOptions {
  readonly region?: string | undefined;
  /** The URL of another server than AWS, for example of a stand-in for tests. */
  readonly endpoint?: string | undefined;
  /** Keys, or a function that returns the present ones. Default: the chain of the AWS SDK. */
  readonly credentials?: AwsCredentials | (() => Promise<AwsCredentials>) | undefined;
  /** `declare` makes topic, queue and subscription; `check` only compares them; `off` uses them unseen. Default: `declare`. */
  readonly topology?: 'declare' | 'check' | 'off' | undefined;
  /** The one topic of all services: its name without `.fifo`, or its ARN. Queues are named after it. Default: `whizbang`. */
  readonly topic?: string | undefined;
  /** The largest message that is sent, in bytes. More than 262144 needs a topic that allows it. Default: 262144. */
  readonly maxMessageBytes?: number | undefined;
  /** After how long a message of an instance that died comes again. Extended while it is being stored. Default: 30. */
  readonly visibilitySeconds?: number | undefined;
  /** How long a request waits for messages, and a stop at most for it. Default: 2. */
  readonly waitSeconds?: number | undefined;
}

/** The options, complete. */
export interface SqsSettings {
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
  readonly credentials: SqsTransportOptions['credentials'];
  readonly topology: 'declare' | 'check' | 'off';
  /** The name of the topic, without `.fifo`. */
  readonly topicName: string;
  /** The ARN, where it was given. */
  readonly topicArn: string | undefined;
  readonly maxMessageBytes: number;
  readonly visibilitySeconds: number;
  readonly waitSeconds: number;
}

const owner = 'sqsTransport';
const numbers = {
  maxMessageBytes: { default: 262_144, min: 1_024, max: 1_048_576, unit: 'bytes' },
  visibilitySeconds: { default: 30, min: 1, max: 43_200, unit: 'seconds' },
  waitSeconds: { default: 2, min: 0, max: 20, unit: 'seconds' },
} as const satisfies OptionTable;
const others = ['region', 'endpoint', 'credentials', 'topology', 'topic'];

/** Checks the options and fills in the defaults. Throws INVALID_OPTION. */
export function resolveSqsOptions(given: SqsTransportOptions): SqsSettings {
  const resolved = resolveOptions(owner, numbers, given as Record<string, unknown>, others);
  const { region, endpoint, credentials, topology = 'declare', topic = 'whizbang' } = given;
  if (!['declare', 'check', 'off'].includes(topology))
    throw refusal('topology', topology, "Give 'declare', 'check' or 'off'.");
  if (region !== undefined && !(typeof region === 'string' && /^[a-z0-9-]+$/.test(region)))
    throw refusal('region', region, "Give the name of a region, such as 'eu-central-1'.");
  if (endpoint !== undefined && !(typeof endpoint === 'string' && /^https?:$/.test(protocolOf(endpoint))))
    throw invalidOption(owner, 'endpoint', 'endpoint is no URL of http or https', 'Leave it out to use AWS.');
  if (!isCredentials(credentials))
    throw invalidOption(
      owner,
      'credentials',
      'credentials are neither keys nor a function',
      'Give { accessKeyId, secretAccessKey }, a function that returns them, or nothing: then the AWS SDK looks for them.',
    );
  return Object.freeze({ ...resolved, region, endpoint, credentials, topology, ...topicOf(topic) });
}

function topicOf(topic: unknown): Pick<SqsSettings, 'topicName' | 'topicArn'> {
  const text = typeof topic === 'string' ? topic : '';
  const arn = /^arn:[\w-]+:sns:[a-z0-9-]+:\d{12}:(\w{1,40})\.fifo$/.exec(text);
  if (arn?.[1] !== undefined) return { topicName: arn[1], topicArn: text };
  if (/^\w{1,40}$/.test(text)) return { topicName: text, topicArn: undefined };
  throw refusal(
    'topic',
    topic,
    'Give up to 40 letters, digits and _, without .fifo: a queue is named after topic and service, with - between them. Or the ARN of such a FIFO topic.',
  );
}

function isCredentials(credentials: unknown): boolean {
  if (credentials === undefined || typeof credentials === 'function') return true;
  const { accessKeyId, secretAccessKey } = (credentials ?? {}) as Partial<AwsCredentials>;
  return [accessKeyId, secretAccessKey].every((key) => typeof key === 'string' && key !== '');
}

const protocolOf = (url: string) => (URL.canParse(url) ? new URL(url).protocol : '');

const refusal = (option: string, value: unknown, hint: string) =>
  invalidOption(owner, option, `${option} is ${JSON.stringify(value)}`, hint);
