// Names of attributes: those of OpenTelemetry's conventions for messaging (1.45), and our own under `whizbang`.
// Spans have ids; metrics never do, because each value would be a series of its own for ever.
import { WhizbangError } from '../errors.js';

export const names = {
  system: 'messaging.system.name',
  operation: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destination: 'messaging.destination.name',
  partition: 'messaging.destination.partition.id',
  group: 'messaging.consumer.group.name',
  messageId: 'messaging.message.id',
  conversationId: 'messaging.message.conversation_id',
  batchCount: 'messaging.batch.message_count',
  errorType: 'error.type',
  type: 'whizbang.message.type',
  streamId: 'whizbang.stream.id',
  instanceId: 'whizbang.instance.id',
  attempt: 'whizbang.attempt',
  receptor: 'whizbang.receptor.name',
  perspective: 'whizbang.perspective.name',
  service: 'whizbang.service.name',
  lane: 'whizbang.lane',
  state: 'whizbang.state',
} as const;

/** The systems of the conventions, by the names of our transports. */
const systems: Readonly<Record<string, string>> = {
  postgres: 'postgresql',
  sqs: 'aws.sqs',
  'azure-service-bus': 'azure.servicebus',
};

export const systemOf = (transport: string) => systems[transport] ?? transport;

/** The kind of an error, of which there are few: a code of ours, or the name of its class. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof WhizbangError) return error.code;
  return error instanceof Error ? error.constructor.name : '_OTHER';
}
