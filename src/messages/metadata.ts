// Converts the envelope to columns and back: what has no column of its own is in `metadata`.
// In: an envelope, or a row that any program may have written. Out: JSON, or an envelope in which nothing is
// missing.
import type { MessageId, StreamId } from '../message.js';
import { sendOptions } from '../options.js';
import type { MessageDefinition } from './definition.js';
import type { Envelope, EnvelopeMetadata, Hop, MessageKind } from './envelope.js';
import { readPayload } from './payload.js';
import { newTraceparent, parseTraceparent } from './trace-context.js';

/** The columns that an inbox row, an outbox row and a work item have in common. */
export interface EnvelopeRow {
  readonly messageId: MessageId;
  readonly eventData: unknown;
  readonly metadata: unknown;
  readonly scope: unknown;
  readonly streamId: StreamId | null;
  /** Fields of the payload whose key is gone. */
  readonly erased?: readonly string[] | undefined;
}

type Described<Output = unknown> = Pick<MessageDefinition<MessageKind, never, Output>, 'kind' | 'type'>;

/**
 * Limit on the hops; the latest are kept. Two services that keep answering each other would otherwise send a
 * longer message each time.
 */
export const mostHops = 50;

/** The priority is here too, so that it travels with the message through every transport. */
export function toMetadata(envelope: Envelope, priority?: number): EnvelopeMetadata {
  const { kind, correlationId, causationId, hops, traceparent, tracestate, schemaVersion } = envelope;
  const { aggregateType } = envelope;
  return {
    kind,
    correlationId,
    causationId,
    hops: hops.slice(-mostHops),
    traceparent,
    ...(tracestate === null ? {} : { tracestate }),
    schemaVersion,
    ...(aggregateType === undefined ? {} : { aggregateType }),
    ...(priority === undefined ? {} : { priority }),
  };
}

/** Reads field by field: a field that is missing or of a wrong type is left out, and the others are kept. */
export function readMetadata(metadata: unknown): Partial<EnvelopeMetadata> {
  const given = isObject(metadata) ? metadata : {};
  const { kind, correlationId, causationId, hops, traceparent, tracestate, schemaVersion } = given;
  const read: { -readonly [Key in keyof EnvelopeMetadata]?: EnvelopeMetadata[Key] } = {};
  if (kind === 'event' || kind === 'command') read.kind = kind;
  if (isText(correlationId)) read.correlationId = correlationId;
  if (isText(causationId) || causationId === null) read.causationId = causationId;
  if (Array.isArray(hops)) read.hops = hops.flatMap(readHop).slice(-mostHops);
  if (isText(traceparent) && parseTraceparent(traceparent) !== undefined) read.traceparent = traceparent;
  if (isText(tracestate)) read.tracestate = tracestate;
  if (isVersion(schemaVersion)) read.schemaVersion = schemaVersion;
  return read;
}

/** Reads the priority of a message that has arrived. Undefined: it has none, or none that is valid. */
export function readPriority(metadata: unknown): number | undefined {
  const priority = isObject(metadata) ? metadata.priority : undefined;
  const { min, max } = sendOptions.priority;
  return Number.isInteger(priority) && (priority as number) >= min && (priority as number) <= max
    ? (priority as number)
    : undefined;
}

/** Returns the service that waits for the answer to a message. Undefined: none does. */
export function answerAddressOf(metadata: unknown): string | undefined {
  const to = isObject(metadata) ? metadata.answerTo : undefined;
  return isText(to) ? to : undefined;
}

/** The envelope of a row. The payload is the stored JSON, unless a validated one is given. */
export function envelopeOf(row: EnvelopeRow, definition: Described): Envelope;
export function envelopeOf<Payload>(
  row: EnvelopeRow,
  definition: Described,
  payload: Payload,
): Envelope<Payload>;
export function envelopeOf(
  row: EnvelopeRow,
  definition: Described,
  payload: unknown = row.eventData,
): Envelope {
  return envelopeWith(row, definition, payload, readMetadata(row.metadata));
}

function envelopeWith<Payload>(
  row: EnvelopeRow,
  definition: Described,
  payload: Payload,
  metadata: Partial<EnvelopeMetadata>,
): Envelope<Payload> {
  return {
    messageId: row.messageId,
    type: definition.type,
    kind: metadata.kind ?? definition.kind,
    payload,
    streamId: row.streamId,
    correlationId: metadata.correlationId ?? row.messageId,
    causationId: metadata.causationId ?? null,
    hops: metadata.hops ?? [],
    scope: row.scope ?? null,
    traceparent: metadata.traceparent ?? newTraceparent(),
    // The tracestate belongs to its traceparent and has no meaning without it.
    tracestate: metadata.traceparent === undefined ? null : (metadata.tracestate ?? null),
    schemaVersion: metadata.schemaVersion ?? 1,
  };
}

/**
 * Reads a received row in one step: upcasts and validates the payload, and returns it in its envelope. Returns a
 * promise only when an upcaster or the schema does.
 */
export function readEnvelope<Output>(
  row: EnvelopeRow,
  definition: MessageDefinition<MessageKind, never, Output, unknown>,
): Envelope<Output> | Promise<Envelope<Output>> {
  const metadata = readMetadata(row.metadata);
  const payload = readPayload(definition, row.eventData, metadata.schemaVersion ?? 1, row.erased);
  return payload instanceof Promise
    ? payload.then((read: Output) => envelopeWith(row, definition, read, metadata))
    : envelopeWith(row, definition, payload, metadata);
}

function readHop(hop: unknown): Hop[] {
  if (!isObject(hop) || !isText(hop.service)) return [];
  const { service, instanceId, at } = hop;
  return [{ service, instanceId: isText(instanceId) ? instanceId : '', at: isText(at) ? at : '' }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
