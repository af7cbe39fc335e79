import type { ServiceBusMessage, ServiceBusReceivedMessage } from '@azure/service-bus';
import { shardOfMessage } from '../order/shards.js';
import type { TransportMessage, UnreadableContent } from '../transport.js';
import {
  decodeMessage,
  encodeMessage,
  fromCloudEvent,
  structuredContentType,
  toCloudEvent,
} from '../wire/cloud-events.js';

const prefix = 'cloudEvents:';
/** CloudEvents allows both in front of an attribute. */
const attribute = /^cloudEvents[:_](.+)$/;
/** Service Bus takes 32 KB in one property and 64 KB in all; above half of that the attributes go into the body. */
const mostPropertyBytes = 30_000;

/** The name of the session that a message belongs to. */
export function sessionIdOf(message: TransportMessage, sessions: 'shard' | 'stream', shards: number): string {
  if (sessions === 'stream') return message.streamId ?? message.messageId;
  return `shard-${shardOfMessage(message, shards)}`;
}

/** The message as a CloudEvent: its attributes as application properties, or in the body where they are long. */
export function toWire(message: TransportMessage, sessionId: string): ServiceBusMessage & { body: Buffer } {
  const { attributes, data } = toCloudEvent(message);
  const { datacontenttype, ...others } = attributes;
  const bytes = Object.values(others).reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  const common = {
    messageId: message.messageId,
    sessionId,
    to: message.address,
    subject: message.type.slice(0, 128),
  };
  if (bytes > mostPropertyBytes)
    return { ...common, contentType: structuredContentType, body: Buffer.from(encodeMessage(message)) };
  const properties = Object.entries(others).map(([name, value]) => [`${prefix}${name}`, value]);
  return {
    ...common,
    contentType: datacontenttype ?? 'application/json',
    body: Buffer.from(data),
    applicationProperties: Object.fromEntries(properties),
  };
}

/** What arrived: a message of ours, a foreign CloudEvent, or unreadable content. Never throws. */
export function fromWire(received: ServiceBusReceivedMessage): TransportMessage | UnreadableContent {
  const { body, contentType, to: address = '', applicationProperties = {} } = received;
  const bytes = bytesOf(body);
  if (contentType?.startsWith(structuredContentType)) return decodeMessage(bytes, address);
  const attributes: Record<string, string> = {};
  for (const [property, value] of Object.entries(applicationProperties)) {
    const name = attribute.exec(property)?.[1];
    if (name !== undefined && value !== null) attributes[name] = textOf(value);
  }
  if (contentType !== undefined) attributes.datacontenttype ??= contentType;
  return fromCloudEvent({ attributes, data: bytes }, address);
}

const textOf = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));

/** A body is bytes, unless a foreign program sent an AMQP value. */
function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  if (body === undefined || body === null) return new Uint8Array();
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}
