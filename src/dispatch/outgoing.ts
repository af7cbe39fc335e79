// A message to send becomes an envelope, and the envelope a row of the outbox.
// In: a message, where it is sent from, what the call asks for. Out: a NewOutboxMessage, or INVALID_MESSAGE.
// Called by the dispatcher. It looks at one message at a time and never stores anything.
import type { NewOutboxMessage } from '../message.js';
import { newMessageId } from '../message-id.js';
import {
  childTraceparent,
  type Envelope,
  isMessageToSend,
  type MessageDefinition,
  type MessageToSend,
  newTraceparent,
  parseTraceparent,
  toMetadata,
  validatePayload,
} from '../messages/index.js';
import { notAMessage } from './refusals.js';

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
export interface Sender {
  /** Without it, an event with sealed fields is refused. */
  readonly sealer?: Sealer | undefined;
  /** The transaction in which what is sent will be stored, if it is open already and the call does not name it. */
  readonly tx?: object | undefined;
  readonly service: string;
  readonly instanceId: string;
  /** The message that is being handled. It is the cause of what is sent now. */
  readonly parent?: Envelope | undefined;
  /** Returns the traceparent of the span that is active now, if there is one. */
  readonly traceContext?: (() => string | undefined) | undefined;
}

/** Fields that a call may set instead of inheriting them. */
export interface EnvelopeOptions {
  readonly messageId?: string | undefined;
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

export async function toOutgoing(
  message: MessageToSend,
  sender: Sender,
  options: EnvelopeOptions,
): Promise<Outgoing> {
  if (!isMessageToSend(message)) throw notAMessage(message);
  const { definition } = message;
  const { payload, json } = await validatePayload(definition, message.payload);
  const { parent } = sender;
  const messageId = options.messageId?.toLowerCase() ?? newMessageId();
  const hop = { service: sender.service, instanceId: sender.instanceId, at: new Date().toISOString() };
  const envelope: Envelope = {
    messageId,
    type: definition.type,
    kind: definition.kind,
    payload,
    streamId: definition.streamOf(payload),
    correlationId: options.correlationId ?? parent?.correlationId ?? messageId,
    causationId: options.causationId === undefined ? (parent?.messageId ?? null) : options.causationId,
    hops: [...(parent?.hops ?? []), hop],
    scope: options.scope === undefined ? (parent?.scope ?? null) : options.scope,
    ...traceOf(sender, options),
    schemaVersion: definition.schemaVersion,
    ...(definition.aggregate === undefined ? {} : { aggregateType: definition.aggregate }),
  };
  return { envelope, json };
}

export function toOutboxMessage(
  { envelope, json }: Outgoing,
  rest: Pick<NewOutboxMessage, 'destination' | 'scheduledFor' | 'delaySeconds' | 'expectedVersion'>,
): NewOutboxMessage {
  return {
    messageId: envelope.messageId,
    eventType: envelope.type,
    eventData: json,
    metadata: toMetadata(envelope),
    streamId: envelope.streamId,
    isEvent: envelope.kind === 'event' && envelope.streamId !== null,
    ...rest,
    ...(envelope.scope === null ? {} : { scope: envelope.scope }),
  };
}

/**
 * Chooses the trace. An active span is passed on unchanged. Otherwise
 * the parent's trace is continued by one step, or a new one begins.
 */
function traceOf(
  { parent, traceContext }: Sender,
  { traceparent }: EnvelopeOptions,
): Pick<Envelope, 'traceparent' | 'tracestate'> {
  const active = traceparent ?? validOrNothing(traceContext?.());
  const inherited = parent === undefined ? undefined : childTraceparent(parent.traceparent);
  const chosen = active ?? inherited ?? newTraceparent();
  if (parent === undefined) return { traceparent: chosen, tracestate: null };
  const sameTrace = parseTraceparent(chosen)?.traceId === parseTraceparent(parent.traceparent)?.traceId;
  return { traceparent: chosen, tracestate: sameTrace ? parent.tracestate : null };
}

/**
 * Ignores an invalid value of a tracing library: the sender has
 * not caused it, and a message is also sent without a trace.
 */
function validOrNothing(traceparent: string | undefined): string | undefined {
  return parseTraceparent(traceparent) === undefined ? undefined : traceparent;
}
