// CloudEvents over AMQP: binary mode, attributes as headers `cloudEvents:<name>`, the bare payload as the body.
import type { ConsumeMessage, Options } from 'amqplib';
import type { TransportMessage, UnreadableContent } from '../transport.js';
import {
  decodeMessage,
  encodeMessage,
  fromCloudEvent,
  structuredContentType,
  toCloudEvent,
} from '../wire/cloud-events.js';
import { type Names, routingKeyOf } from './names.js';

export interface Publication {
  readonly exchange: string;
  readonly routingKey: string;
  readonly content: Buffer;
  readonly options: Options.Publish;
}

const headerPrefix = 'cloudEvents:';
/** amqplib encodes headers into 64 KiB. Each also has its name, its type and two lengths. */
const mostHeaderBytes = 60_000;
const bytesPerHeader = 64;
/** Of a short string in AMQP. */
const longestProperty = 255;

/** Returns the message as it goes to the broker. Throws INVALID_MESSAGE, or INVALID_OPTION for an impossible address. */
export function publicationOf(message: TransportMessage, exchanges: Names): Publication {
  const isCommand = (message.metadata as { readonly kind?: unknown } | null)?.kind === 'command';
  const { attributes, data } = toCloudEvent(message);
  const headers = headersOf(attributes);
  const content = headers === undefined ? encodeMessage(message) : data;
  const at = message.sentAt === null ? Number.NaN : Date.parse(message.sentAt);
  const options: Options.Publish = {
    persistent: true,
    mandatory: isCommand,
    messageId: message.messageId,
    contentType:
      headers === undefined ? structuredContentType : (attributes.datacontenttype ?? 'application/json'),
    headers: headers ?? {},
  };
  if (fits(message.type, longestProperty)) options.type = message.type;
  if (fits(message.source, longestProperty)) options.appId = message.source;
  if (at >= 0) options.timestamp = Math.floor(at / 1000);
  return {
    exchange: isCommand ? exchanges.commands : exchanges.events,
    routingKey: routingKeyOf(message),
    content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
    options,
  };
}

/** The attributes as headers; the content type has a property of its own. Undefined: they do not fit. */
function headersOf(attributes: Readonly<Record<string, string>>): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  let left = mostHeaderBytes;
  for (const name in attributes) {
    if (name === 'datacontenttype') continue;
    const value = attributes[name] as string;
    left -= bytesPerHeader;
    if (!fits(value, left)) return undefined;
    left -= Buffer.byteLength(value);
    headers[headerPrefix + name] = value;
  }
  return headers;
}

/** A character of a text has three bytes at most, so most texts need not be looked at. */
const fits = (text: string, bytes: number) => text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes;

/** Reads what arrived, in either mode: a message, or unreadable content with a reason. Never throws. */
export function readDelivery(
  { properties, content }: ConsumeMessage,
  address: string,
): TransportMessage | UnreadableContent {
  const contentType: unknown = properties.contentType;
  if (typeof contentType === 'string' && isStructuredType(contentType))
    return decodeMessage(content, address);
  const attributes: Record<string, string> = {};
  const headers: Readonly<Record<string, unknown>> = properties.headers ?? {};
  for (const header in headers) {
    const name = attributeOf(header);
    const text = name === undefined ? undefined : textOf(headers[header]);
    if (name !== undefined && text !== undefined) attributes[name] = text;
  }
  if (typeof contentType === 'string' && contentType !== '') attributes.datacontenttype = contentType;
  return fromCloudEvent({ attributes, data: content }, address);
}

/** Of an AMQP client that does not like colons in names, and of one that writes them otherwise, too. */
function attributeOf(header: string): string | undefined {
  const name = header.startsWith(headerPrefix)
    ? header.slice(headerPrefix.length)
    : /^cloudEvents[:_](.+)$/i.exec(header)?.[1];
  return name === '' ? undefined : name?.toLowerCase();
}

const isStructuredType = (contentType: string) =>
  contentType.split(';', 1)[0]?.trim().toLowerCase() === structuredContentType;

/** Other clients may send numbers, truth values, times and bytes as such. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  const { '!': type, value: inner } = (value ?? {}) as { readonly '!'?: unknown; readonly value?: unknown };
  if (type === 'timestamp' && typeof inner === 'number') return new Date(inner * 1000).toISOString();
  return type === undefined ? undefined : textOf(inner);
}
