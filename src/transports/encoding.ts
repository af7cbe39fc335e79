import { WhizbangError } from '../errors.js';
import { isUuid } from '../uuid.js';
import type { TransportMessage, UnreadableContent } from './transport.js';

/**
 * Encodes a message as bytes, the same for every broker: one JSON object in UTF-8. The address is left out,
 * because the broker routes by it. Throws INVALID_MESSAGE.
 */
export function encodeMessage(message: TransportMessage): Uint8Array {
  const { messageId, type, payload, metadata, scope, streamId } = message;
  try {
    const text = JSON.stringify({ messageId, type, payload, metadata, scope, streamId });
    return new TextEncoder().encode(text);
  } catch (error) {
    throw new WhizbangError('INVALID_MESSAGE', {
      message: `Message ${messageId} of type ${type} cannot be written as JSON.`,
      details: { messageId, type },
      cause: error,
    });
  }
}

/**
 * Decodes the bytes that arrived at an address: a message, or unreadable content with a reason. Never throws.
 */
export function decodeMessage(bytes: Uint8Array, address: string): TransportMessage | UnreadableContent {
  const unreadable = (reason: string): UnreadableContent => ({ unreadable: reason, bytes, address });
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return unreadable('It is not UTF-8.');
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return unreadable('It is not JSON.');
  }
  if (typeof content !== 'object' || content === null) return unreadable('It is not a JSON object.');
  const fields = content as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(isRight).find(([name, test]) => !test(fields[name]));
  if (wrong !== undefined) return unreadable(`Its ${wrong[0]} is missing or wrong.`);
  const { messageId, type, payload, metadata = null, scope = null, streamId = null } = fields;
  return { messageId, address, type, payload, metadata, scope, streamId } as TransportMessage;
}

/** The fields that the inbox requires. It would refuse any other value at every delivery. */
const isRight: Readonly<Record<string, (value: unknown) => boolean>> = {
  messageId: isUuid,
  type: (value) => typeof value === 'string' && value !== '',
  payload: (value) => value !== undefined && value !== null,
  streamId: (value) => value === undefined || value === null || isUuid(value),
};
