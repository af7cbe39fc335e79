// The messages of one call become rows: checked, in their envelopes, in their order.
// In: messages, where they are sent from, the resolved options. Out: new outbox messages, or the first refusal.
// Called by the dispatcher and the event store. It never stores anything.
import type { NewOutboxMessage } from '../message.js';
import {
  isMessageToSend,
  type MessageDefinition,
  type MessageKind,
  type MessageToSend,
} from '../messages/index.js';
import { invalidOption } from '../options.js';
import { type SendingInstance, type ToSeal, toOutboxMessage, toOutgoing } from './outgoing.js';
import { inCall, noSealer, notAMessage, wrongKind } from './refusals.js';
import type { Method, ResolvedSendOptions } from './resolve-send-options.js';

interface Preparation {
  readonly method: Method;
  readonly kind: MessageKind;
  readonly sender: SendingInstance;
  readonly resolved: ResolvedSendOptions;
  /** Returns the receiver of a message, or refuses it. */
  readonly addressOf: (definition: MessageDefinition) => string;
  /** Changes a row, or refuses it. */
  readonly finish?: ((row: NewOutboxMessage) => NewOutboxMessage) | undefined;
}

export async function prepareMessages(
  given: MessageToSend | readonly MessageToSend[],
  { method, kind, sender, resolved, addressOf, finish = (row) => row }: Preparation,
): Promise<readonly NewOutboxMessage[]> {
  if (sender.traces?.loading !== undefined) await sender.traces.loading;
  const isMany = Array.isArray(given);
  const prepared: ToSeal[] = [];
  for (const [i, message] of ((isMany ? given : [given]) as readonly MessageToSend[]).entries()) {
    try {
      refuseOtherKind(message, kind, method);
      const destination = addressOf(message.definition);
      const made = toOutgoing(message, sender, resolved.envelope, destination);
      const outgoing = made instanceof Promise ? await made : made;
      const row = finish(
        toOutboxMessage(outgoing, { destination, ...timing(resolved, i), ...priorityOf(resolved) }),
      );
      refuseNoStream(row, method, resolved);
      prepared.push({ row, definition: message.definition, payload: outgoing.envelope.payload });
    } catch (error) {
      throw isMany ? inCall(error, i) : error;
    }
  }
  const rows = prepared.map(({ row }) => row);
  refuseSeveralStreams(rows, method, resolved);
  const first = prepared.find(({ definition: { sealed } }) => sealed !== undefined);
  if (first === undefined) return rows;
  if (sender.sealer === undefined) throw noSealer(first.definition);
  return sender.sealer.seal(
    prepared,
    (resolved.tx as object | undefined) ?? sender.tx,
    method === 'append' || resolved.expectedVersion !== undefined,
  );
}

/** Prepares events for the event store. */
export function prepareEvents(
  events: MessageToSend<'event'> | readonly MessageToSend<'event'>[],
  sender: SendingInstance,
  resolved: ResolvedSendOptions,
  finish?: (row: NewOutboxMessage) => NewOutboxMessage,
): Promise<readonly NewOutboxMessage[]> {
  const addressOf = ({ address, type }: MessageDefinition) => address ?? type;
  return prepareMessages(events, { method: 'append', kind: 'event', sender, resolved, addressOf, finish });
}

/**
 * Refuses a message of the other kind. Types do not check this
 * in JavaScript, and a published command finds no receiver.
 */
export function refuseOtherKind(message: MessageToSend, kind: MessageKind, method: Method): void {
  if (!isMessageToSend(message)) throw notAMessage(message);
  if (message.definition.kind !== kind) throw wrongKind(message.definition, method);
}

function timing(
  { scheduledFor, delaySeconds, holdStream, expectedVersion }: ResolvedSendOptions,
  index: number,
): Pick<NewOutboxMessage, 'scheduledFor' | 'delaySeconds' | 'isTimer' | 'expectedVersion'> {
  const isDelayed = scheduledFor !== undefined || delaySeconds !== undefined;
  return {
    ...(scheduledFor === undefined ? {} : { scheduledFor }),
    ...(delaySeconds === undefined ? {} : { delaySeconds }),
    ...(isDelayed && !holdStream ? { isTimer: true } : {}),
    ...(expectedVersion === undefined ? {} : { expectedVersion: expectedVersion + index }),
  };
}

const priorityOf = ({ priority }: ResolvedSendOptions) => (priority === undefined ? {} : { priority });

function refuseNoStream(
  row: NewOutboxMessage,
  method: Method,
  { expectedVersion }: ResolvedSendOptions,
): void {
  if (row.streamId != null) return;
  if (method === 'append') {
    const hint = `Give the definition a stream: defineEvent("${row.eventType}", { schema, stream: (payload) => … }).`;
    throw invalidOption(method, 'stream', `${row.eventType} has no stream to append it to`, hint);
  }
  if (expectedVersion === undefined) return;
  const fact = `expectedVersion is given, but ${row.eventType} has no stream`;
  throw invalidOption(method, 'expectedVersion', fact, 'Leave it out, or define a stream for the event.');
}

function refuseSeveralStreams(
  rows: readonly NewOutboxMessage[],
  method: Method,
  { expectedVersion }: ResolvedSendOptions,
): void {
  if (expectedVersion === undefined) return;
  if (rows.every(({ streamId }) => streamId === rows[0]?.streamId)) return;
  const fact = 'expectedVersion is given for events of several streams';
  throw invalidOption(method, 'expectedVersion', fact, `Call ${method} once for each stream.`);
}
