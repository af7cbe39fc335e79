// Services that are connected through SNS and SQS of AWS: one FIFO topic for all, one FIFO queue for each service.
// In: region, credentials and the way topic and queues are made. Out: a transport.
// Called by the workers through Transport. A stream is a message group: SQS keeps its order, and locks it while one of
// its messages is unacknowledged. Messages are CloudEvents in structured mode.
import type { Transport } from '../transport.js';
import { Aws } from './aws.js';
import { SqsConnection } from './sqs-connection.js';
import { resolveSqsOptions, type SqsTransportOptions } from './sqs-options.js';

/** A transport over SNS and SQS FIFO. Needs `@aws-sdk/client-sqs` and `@aws-sdk/client-sns`. Throws INVALID_OPTION. */
export function sqsTransport(options: SqsTransportOptions = {}): Transport {
  const settings = resolveSqsOptions(options);
  return {
    name: 'sqs',
    traits: {
      moves: 'stream',
      sent: 'replicated',
      knowsReceivers: false,
      maxMessageBytes: settings.maxMessageBytes,
    },
    connect: async (host) => SqsConnection.open(await Aws.load(settings), settings, host),
  };
}
