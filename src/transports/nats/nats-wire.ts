// A message in a NATS message: CloudEvents in binary mode, each attribute in a header `ce-<attribute>`, the body bare JSON.
// In: messages to send; headers and bytes that arrived. Out: headers and bytes; a message, or unreadable content.
// Called by sending and receiving. Attributes that do not fit into headers go into the body, in structured mode.

import type { TransportMessage, UnreadableContent } from '../transport.js';
import {
  decodeMessage,
  encodeMessage,
  fromCloudEvent,
  structuredContentType,
  toCloudEvent,
} from '../wire/cloud-events.js';

export interface NatsContent {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly data: Uint8Array;
}

/** JetStream stores 64 KiB of headers at most. */
const longestHeaders = 60_000;

/**
 * Throws INVALID_MESSAGE. It sets no `Nats-Msg-Id`: in a change of leaders, servers before 2.11 remember the id of a message
 * that they drop, and confirm it as a duplicate when it is sent again (nats-server#6415). It would be lost.
 */
export function toNats(message: TransportMessage): NatsContent {
  const { attributes, data } = toCloudEvent(message);
  const headers = Object.entries(attributes).map(
    ([name, value]) => [`ce-${name}`, encodeValue(value)] as const,
  );
  if (headersLength(headers) <= longestHeaders) return { headers, data };
  return { headers: [['content-type', structuredContentType]], data: encodeMessage(message) };
}

/** Never throws. */
export function fromNats(
  headers: Iterable<readonly [string, readonly string[]]> | undefined,
  data: Uint8Array,
  address: string,
): TransportMessage | UnreadableContent {
  const attributes: Record<string, string> = {};
  let contentType: string | undefined;
  for (const [name, [value = '']] of headers ?? []) {
    const lower = name.toLowerCase();
    if (lower === 'content-type') contentType = value;
    else if (lower.startsWith('ce-')) attributes[lower.slice(3)] = decodeValue(value);
  }
  const isStructured = contentType?.toLowerCase().startsWith('application/cloudevents') ?? false;
  if (isStructured || attributes.specversion === undefined) return decodeMessage(data, address);
  if (contentType !== undefined) attributes.datacontenttype ??= contentType;
  return fromCloudEvent({ attributes, data }, address);
}

/** The bytes that the server counts: headers as they are written, and the body. */
export const sizeOf = ({ headers, data }: NatsContent): number => headersLength(headers) + data.length;

function headersLength(headers: NatsContent['headers']): number {
  const frame = 'NATS/1.0\r\n\r\n'.length;
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length + ': \r\n'.length, frame);
}

/** As the binding asks: all that is not printable ASCII, and the space, the quote and the percent sign, by its bytes. */
function encodeValue(value: string): string {
  return value
    .toWellFormed()
    .replace(/[^\x21\x23\x24\x26-\x7e]+/g, (part) =>
      Buffer.from(part).reduce(
        (text, byte) => `${text}%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
        '',
      ),
    );
}

function decodeValue(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
