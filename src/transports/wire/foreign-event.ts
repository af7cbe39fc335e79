import { streamIdOf } from '../../messages/index.js';
import { isUuid } from '../../uuid.js';
import type { TransportMessage } from '../transport.js';

/** Attributes that become fields of the message. All others are kept in its metadata. */
const known = [
  'specversion',
  'id',
  'source',
  'type',
  'time',
  'datacontenttype',
  'partitionkey',
  'traceparent',
  'tracestate',
];

/**
 * Makes a message of a CloudEvent that another program has sent. Its id is made of source and id, which are unique only
 * together, so that an event that comes twice is stored once. Its stream is its `partitionkey`. What the inbox has no
 * column for is kept in the metadata, under `cloudEvent`.
 */
export function foreignEvent(
  attributes: Readonly<Record<string, string>>,
  data: unknown,
  address: string,
): TransportMessage {
  const { id, source, type, time, partitionkey, traceparent, tracestate } = attributes as {
    id: string;
    source: string;
    type: string;
    time?: string;
    partitionkey?: string;
    traceparent?: string;
    tracestate?: string;
  };
  const extensions = Object.fromEntries(Object.entries(attributes).filter(([name]) => !known.includes(name)));
  return {
    messageId: streamIdOf(`cloudevent ${JSON.stringify([source, id])}`),
    address,
    type,
    payload: data ?? {},
    metadata: {
      kind: 'event',
      ...(traceparent !== undefined && { traceparent }),
      ...(tracestate !== undefined && { tracestate }),
      cloudEvent: { id, source, ...extensions },
    },
    scope: null,
    streamId:
      partitionkey === undefined ? null : isUuid(partitionkey) ? partitionkey : streamIdOf(partitionkey),
    source,
    sequence: null,
    sentAt: time ?? null,
  };
}
