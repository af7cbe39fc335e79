// A message on the wire is a CloudEvent 1.0, so that programs in any language can read it and send their own.
// In: messages to send; what arrived. Out: attributes and data (binary mode) or one JSON object (structured mode), and back.
// Called by the transports. Binary mode for brokers with headers: the body is the bare payload. Structured mode for the rest.
import { WhizbangError } from '../../errors.js';
import { isTooLong, longestName } from '../../messages/index.js';
import { isUuid } from '../../uuid.js';
import type { TransportMessage, UnreadableContent } from '../transport.js';
import { foreignEvent } from './foreign-event.js';

/** A CloudEvent in binary mode: the attributes go into headers, the data is the body. */
export interface CloudEvent {
  readonly attributes: Readonly<Record<string, string>>;
  readonly data: Uint8Array;
}

/** The content type of structured mode. */
export const structuredContentType = 'application/cloudevents+json';

const jsonType = 'application/json';
/** Digits of a sequence on the wire: as texts, they sort as the numbers do. */
const sequenceDigits = 20;
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the message as attributes and data. The address is left out, because the broker routes by it.
 * Throws INVALID_MESSAGE.
 */
export function toCloudEvent(message: TransportMessage): CloudEvent {
  return {
    attributes: attributesOf(message),
    data: Buffer.from(asJson(message, message.payload)),
  };
}

/** Encodes a message in structured mode: one JSON object in UTF-8. Throws INVALID_MESSAGE. */
export function encodeMessage(message: TransportMessage): Uint8Array {
  return Buffer.from(asJson(message, { ...attributesOf(message), data: message.payload }));
}

/** Reads what arrived in binary mode: a message, or unreadable content with a reason. Never throws. */
export function fromCloudEvent(event: CloudEvent, address: string): TransportMessage | UnreadableContent {
  const { attributes, data } = event;
  const unreadable = (reason: string): UnreadableContent => ({ unreadable: reason, bytes: data, address });
  const { datacontenttype = jsonType } = attributes;
  if (!isJson(datacontenttype))
    return read(attributes, asForeignData(data, datacontenttype), address, unreadable);
  if (data.length === 0) return read(attributes, undefined, address, unreadable);
  const parsed = parse(data);
  return 'reason' in parsed ? unreadable(parsed.reason) : read(attributes, parsed.value, address, unreadable);
}

/** Reads bytes in structured mode: a message, or unreadable content with a reason. Never throws. */
export function decodeMessage(bytes: Uint8Array, address: string): TransportMessage | UnreadableContent {
  const unreadable = (reason: string): UnreadableContent => ({ unreadable: reason, bytes, address });
  const parsed = parse(bytes);
  if ('reason' in parsed) return unreadable(parsed.reason);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unreadable('It is not a JSON object.');
  const { data, data_base64: base64, ...attributes } = value as Readonly<Record<string, unknown>>;
  if (base64 === undefined) return read(attributes, data, address, unreadable);
  if (typeof base64 !== 'string') return unreadable('Its data_base64 is not a text.');
  const { datacontenttype } = attributes;
  const decoded = Buffer.from(base64, 'base64');
  if (!isJson(datacontenttype))
    return read(attributes, asForeignData(decoded, datacontenttype), address, unreadable);
  const inner = parse(decoded);
  return 'reason' in inner ? unreadable(inner.reason) : read(attributes, inner.value, address, unreadable);
}

function attributesOf(message: TransportMessage): Record<string, string> {
  const { streamId, sequence, place, sentAt, metadata, scope } = message;
  const { traceparent, tracestate } = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  // One by one, and no objects spread into it: this is done for every message.
  const attributes: Record<string, string> = {
    specversion: '1.0',
    id: message.messageId,
    source: encodeURIComponent(message.source.toWellFormed()),
    type: message.type,
    datacontenttype: jsonType,
  };
  if (sentAt !== null) attributes.time = sentAt;
  if (streamId !== null) attributes.partitionkey = streamId;
  if (sequence !== null) attributes.sequence = sequence.padStart(sequenceDigits, '0');
  if (place !== undefined) attributes.whplace = place;
  if (typeof traceparent === 'string') attributes.traceparent = traceparent;
  if (typeof tracestate === 'string') attributes.tracestate = tracestate;
  attributes.whmetadata = asJson(message, metadata ?? null);
  if (scope != null) attributes.whscope = asJson(message, scope);
  return attributes;
}

/** Reads attributes that our own `attributesOf` has made, or leaves them to `foreignEvent`. */
function read(
  attributes: Readonly<Record<string, unknown>>,
  data: unknown,
  address: string,
  unreadable: (reason: string) => UnreadableContent,
): TransportMessage | UnreadableContent {
  const missing = ['specversion', 'id', 'source', 'type'].find((name) => !isText(attributes[name]));
  if (missing !== undefined)
    return unreadable(`It is not a CloudEvent: its ${missing} is missing or not a text.`);
  if (attributes.specversion !== '1.0')
    return unreadable(`It is a CloudEvent of version ${attributes.specversion}, not 1.0.`);
  if (isTooLong(attributes.type as string))
    return unreadable(`Its type is longer than ${longestName} bytes.`);
  const { whmetadata, whscope, whplace, partitionkey, sequence, time } = attributes;
  try {
    if (whmetadata === undefined) return foreignEvent(attributes as Record<string, string>, data, address);
    if (!isUuid(attributes.id)) return unreadable('Its id is not a UUID.');
    if (partitionkey !== undefined && !isUuid(partitionkey))
      return unreadable('Its partitionkey is not a UUID.');
    if (data === undefined || data === null) return unreadable('Its data is missing.');
    return {
      messageId: attributes.id as string,
      address,
      type: attributes.type as string,
      payload: data,
      metadata: JSON.parse(whmetadata as string),
      scope: whscope === undefined ? null : JSON.parse(whscope as string),
      streamId: (partitionkey as string | undefined) ?? null,
      source: decodeURIComponent(attributes.source as string),
      sequence: sequence === undefined ? null : BigInt(sequence as string).toString(),
      ...(isText(whplace) && { place: whplace }),
      sentAt: (time as string | undefined) ?? null,
    };
  } catch (error) {
    return unreadable(`One of its attributes is wrong: ${(error as Error).message}`);
  }
}

function asJson(message: TransportMessage, value: unknown): string {
  const { messageId, type } = message;
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new WhizbangError('INVALID_MESSAGE', {
      message: `Message ${messageId} of type ${type} cannot be written as JSON.`,
      details: { messageId, type },
      cause: error,
    });
  }
}

function parse(bytes: Uint8Array): { readonly value: unknown } | { readonly reason: string } {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { reason: 'It is not UTF-8.' };
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { reason: 'It is not JSON.' };
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isJson = (contentType: unknown) =>
  typeof contentType !== 'string' || /^[^;]*[/+]json\s*(;|$)/i.test(contentType);

/** Data that is no JSON: a text as it is, anything else as base64. */
function asForeignData(data: Uint8Array, contentType: unknown): unknown {
  const bytes = Buffer.from(data);
  if (typeof contentType === 'string' && /^text\//i.test(contentType)) return bytes.toString('utf8');
  return { base64: bytes.toString('base64'), contentType };
}
