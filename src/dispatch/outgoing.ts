// A message to send becomes an envelope, and the envelope a row of the outbox.
// In: a message, where it is sent from, what the call asks for. Out: a NewOutboxMessage, or INVALID_MESSAGE.
// Called by the dispatcher. It looks at one message at a time and never stores anything.
import type { NewOutboxMessage } from '../message.js';
import { newMessageId } from '../message-id.js';
import {
  type Envelope,
  isMessageToSend,
  type MessageDefinition,
  type MessageToSend,
  toMetadata,
  validatePayload,
} from '../messages/index.js';
import { handledMessage } from './handled-message.js';
import { notAMessage } from './refusals.js';
import { type SendingTraces, traceOf } from './trace-of.js';

/** A message before it is stored, with its payload as its schema made it. */
export interface ToSeal {
  readonly row: NewOutboxMessage;
  readonly definition: MessageDefinition;
  readonly payload: unknown;
}

/** Encrypts sealed fields, before anything is stored. */
export interface Sealer {
  /** `locks`: the messages are appended to their streams in this transaction. */
  seal(
    messages: readonly ToSeal[],
    tx: object | undefined,
    locks: boolean,
  ): Promise<readonly NewOutboxMessage[]>;
}

/** Leaves everything as it is: for what is not stored. */
export const notSealing: Sealer = { seal: async (messages) => messages.map(({ row }) => row) };

/** The service and the instance that send. */
export interface SendingInstance {
  readonly traces?: SendingTraces | undefined;
  /** Without it, an event with sealed fields is refused. */
  readonly sealer?: Sealer | undefined;
  /** The transaction in which what is sent will be stored, if it is open already and the call does not name it. */
  readonly tx?: object | undefined;
  readonly service: string;
  readonly instanceId: string;
  /** The message that is being handled. It is the cause of what is sent now. Default: that of the receptor around it. */
  readonly parent?: Envelope | undefined;
  /** Returns the traceparent of the span that is active now, if there is one. */
  readonly traceContext?: (() => string | undefined) | undefined;
}

/** Fields that a call may set instead of inheriting them. */
export interface EnvelopeOptions {
  readonly messageId?: string | undefined;
  /** Null: no stream, although the definition has one. */
  readonly stream?: null | undefined;
  readonly correlationId?: string | undefined;
  readonly causationId?: string | null | undefined;
  /** Null: no scope, although the parent has one. */
  readonly scope?: unknown;
  readonly traceparent?: string | undefined;
}

/** A checked message in its envelope, with the JSON that is stored instead of the payload that handlers see. */
interface Outgoing {
  readonly envelope: Envelope;
  readonly json: unknown;
}

/** Returns a promise only when the schema does. `destination`: where it goes. Undefined: it is handled here and now. */
export function toOutgoing(
  message: MessageToSend,
  sender: SendingInstance,
  options: EnvelopeOptions,
  destination?: string,
): Outgoing | Promise<Outgoing> {
  if (!isMessageToSend(message)) throw notAMessage(message);
  const { definition } = message;
  const valid = validatePayload(definition, message.payload);
  const parent = sender.parent ?? handledMessage();
  return valid instanceof Promise
    ? valid.then((later) => inEnvelope(definition, later, { sender, parent }, options, destination))
    : inEnvelope(definition, valid, { sender, parent }, options, destination);
}

function inEnvelope(
  definition: MessageDefinition,
  { payload, json }: Awaited<ReturnType<typeof validatePayload>>,
  { sender, parent }: { readonly sender: SendingInstance; readonly parent: Envelope | undefined },
  options: EnvelopeOptions,
  destination: string | undefined,
): Outgoing {
  const messageId = options.messageId?.toLowerCase() ?? newMessageId();
  const about = {
    messageId,
    type: definition.type,
    streamId: options.stream === null ? null : definition.streamOf(payload),
    correlationId: options.correlationId ?? parent?.correlationId ?? messageId,
  };
  const trace = traceOf(sender, parent, options, about, destination);
  const hop = { service: sender.service, instanceId: sender.instanceId, at: new Date().toISOString() };
  const envelope: Envelope = {
    messageId,
    type: definition.type,
    kind: definition.kind,
    payload,
    streamId: about.streamId,
    correlationId: about.correlationId,
    causationId: options.causationId === undefined ? (parent?.messageId ?? null) : options.causationId,
    hops: [...(parent?.hops ?? []), hop],
    scope: options.scope === undefined ? (parent?.scope ?? null) : options.scope,
    traceparent: trace.traceparent,
    tracestate: trace.tracestate,
    schemaVersion: definition.schemaVersion,
    ...(definition.aggregate === undefined ? {} : { aggregateType: definition.aggregate }),
  };
  return { envelope, json };
}

export function toOutboxMessage(
  { envelope, json }: Outgoing,
  rest: Pick<
    NewOutboxMessage,
    'destination' | 'scheduledFor' | 'delaySeconds' | 'isTimer' | 'expectedVersion' | 'priority'
  >,
): NewOutboxMessage {
  return {
    messageId: envelope.messageId,
    eventType: envelope.type,
    eventData: json,
    metadata: toMetadata(envelope, rest.priority),
    streamId: envelope.streamId,
    isEvent: envelope.kind === 'event' && envelope.streamId !== null,
    ...rest,
    ...(envelope.scope === null ? {} : { scope: envelope.scope }),
  };
}
