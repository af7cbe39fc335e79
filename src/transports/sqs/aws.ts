import type { SNS } from '@aws-sdk/client-sns';
import type { SQS } from '@aws-sdk/client-sqs';
import { WhizbangError } from '../../errors.js';
import { invalidOption } from '../../options.js';
import { fromAwsError } from './aws-errors.js';
import type { SqsSettings } from './sqs-options.js';

/** One request: what IAM calls it, on what, and how long it may take. */
interface Request {
  readonly action: string;
  readonly resource: string;
  readonly signal?: AbortSignal | undefined;
  readonly seconds?: number;
}

interface Abortable {
  readonly abortSignal: AbortSignal;
}

/** How long a request may take in all: over a connection that died silently no answer comes. */
const requestSeconds = 10;

/** The clients of SQS and SNS. Every request has a limit in time, and fails with an error of ours. */
export class Aws {
  readonly sqs: SQS;
  readonly sns: SNS;

  private constructor(sqs: SQS, sns: SNS) {
    this.sqs = sqs;
    this.sns = sns;
  }

  static async load({ region, endpoint, credentials }: SqsSettings): Promise<Aws> {
    const { SQS } = await present(() => import('@aws-sdk/client-sqs'), '@aws-sdk/client-sqs');
    const { SNS } = await present(() => import('@aws-sdk/client-sns'), '@aws-sdk/client-sns');
    const given = {
      ...(region !== undefined && { region }),
      ...(endpoint !== undefined && { endpoint }),
      ...(credentials !== undefined && { credentials: credentials as never }),
    };
    // The host in the URL of a queue is that of AWS, also where an endpoint was given.
    const aws = new Aws(new SQS({ ...given, useQueueUrlAsEndpoint: endpoint === undefined }), new SNS(given));
    await aws.sqs.config.region().catch(() => {
      aws.destroy();
      throw invalidOption(
        'sqsTransport',
        'region',
        'region is missing, and the AWS SDK finds none',
        "Give region: 'eu-central-1' or set AWS_REGION.",
      );
    });
    return aws;
  }

  /** Makes a request. Rejects with an error of ours, or with the reason of the signal. */
  async request<T>(
    { action, resource, signal, seconds = requestSeconds }: Request,
    make: (options: Abortable) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const limit = new AbortController();
    const stop = () => limit.abort();
    const timer = setTimeout(stop, seconds * 1_000);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await make({ abortSignal: limit.signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (!limit.signal.aborted) throw fromAwsError(error, action, resource);
      // The other connections that wait for a request may be as dead: each would cost the same time again. What is under way
      // over them is made again by the SDK. Both clients open new ones.
      this.destroy();
      throw noAnswer(action, resource, seconds, error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  destroy(): void {
    this.sqs.destroy();
    this.sns.destroy();
  }
}

function noAnswer(action: string, resource: string, seconds: number, cause: unknown): WhizbangError {
  return new WhizbangError('TRANSPORT_UNAVAILABLE', {
    message: `AWS did not answer ${action} within ${seconds} s.`,
    details: { action, resource },
    cause,
  });
}

async function present<T>(load: () => Promise<T>, name: string): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `sqsTransport needs the package ${name}, which cannot be loaded.`,
      hint: 'Run: npm install @aws-sdk/client-sqs @aws-sdk/client-sns',
      details: { option: 'transport', package: name },
      cause,
    });
  }
}
