import type { PublishBatchRequestEntry } from '@aws-sdk/client-sns';
import { WhizbangError } from '../../errors.js';
import type { TransportMessage, UnreadableContent } from '../transport.js';
import { decodeMessage, encodeMessage } from '../wire/cloud-events.js';

/** A message as SNS takes it, and its size as SNS and SQS count it. */
export interface WireMessage {
  readonly entry: PublishBatchRequestEntry;
  readonly bytes: number;
}

/** The attribute that the topic filters by. */
export const addressAttribute = 'address';
const attributeType = 'String';

/**
 * Writes a message for SNS: a CloudEvent in structured mode, its address as an attribute, its stream as the message group.
 * Throws INVALID_MESSAGE when SNS cannot take it, whatever is tried.
 */
export function toWire(message: TransportMessage, maxBytes: number): WireMessage {
  const { messageId, address, streamId, type } = message;
  if (!canBeSpelled(address)) {
    throw new WhizbangError('INVALID_MESSAGE', {
      message: `Message ${messageId} of type ${type} has the address ${JSON.stringify(address)}, which SNS cannot carry.`,
      hint: 'Give the service or the topic of the event a name without control characters.',
      details: { messageId, type, address },
    });
  }
  // The two characters that JSON leaves as they are and SQS refuses.
  const body = Buffer.from(encodeMessage(message))
    .toString('utf8')
    .replaceAll(/[\uFFFE\uFFFF]/g, escapeOf);
  const attribute = addressAttribute + attributeType + address;
  const bytes = Buffer.byteLength(body) + Buffer.byteLength(attribute);
  if (bytes > maxBytes) {
    throw new WhizbangError('INVALID_MESSAGE', {
      message: `Message ${messageId} of type ${type} has ${bytes} bytes on the wire, more than the ${maxBytes} that are allowed.`,
      hint: 'Send a reference to the large part instead, or raise maxMessageBytes of sqsTransport, up to 1048576.',
      details: { messageId, type, bytes, maxMessageBytes: maxBytes },
    });
  }
  return {
    bytes,
    entry: {
      Id: messageId,
      Message: body,
      MessageGroupId: streamId ?? messageId,
      MessageDeduplicationId: messageId,
      MessageAttributes: { [addressAttribute]: { DataType: attributeType, StringValue: address } },
    },
  };
}

/** Reads what arrived: a message, or unreadable content with a reason. */
export function fromWire(body: string, address: string): TransportMessage | UnreadableContent {
  return decodeMessage(Buffer.from(body, 'utf8'), address);
}

/** Whether SNS takes it as the value of an attribute: what XML can spell, and not nothing. */
export const canBeSpelled = (address: string): boolean =>
  address !== '' && /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u.test(address);

const escapeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16)}`;
