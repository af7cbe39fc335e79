// The door `whizbang/sqs`: the transport over SNS and SQS of AWS.
// Exports only, in the group of docs/reference/api.md, which a test holds equal to this file.

export type { AwsCredentials, SqsTransportOptions } from './transports/sqs/sqs-options.js';
export { sqsTransport } from './transports/sqs/sqs-transport.js';
