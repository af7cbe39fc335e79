import type { NewInboxMessage, WorkItem } from '../../message.js';
import { streamIdOf } from '../../messages/index.js';
import { FinalError } from '../../receptors/index.js';
import type { Delivery, UnreadableContent } from '../../transports/index.js';

/** The handler's name of what arrived and could not be read. Every instance has it; it makes a dead letter of it. */
export const unreadable = '(unreadable)';

/** Under an id made of its bytes: the same delivery twice is stored once. */
export function storeUnreadable(reason: string, bytes: Uint8Array): NewInboxMessage {
  const base64 = Buffer.from(bytes).toString('base64');
  return {
    messageId: streamIdOf(`unreadable ${base64}`) as string,
    handlerName: unreadable,
    eventType: unreadable,
    eventData: { reason: reason.replaceAll('\0', '').toWellFormed(), base64 },
  };
}

export const isUnreadable = (content: Delivery['content']): content is UnreadableContent =>
  'unreadable' in content;

/** Bytes that are no message will not become one. A type without a receptor may get one with the next deployment. */
export function unreadableError(item: WorkItem): Error {
  if (item.destination !== unreadable) return new Error(`There is no receptor for ${item.eventType} here.`);
  const { reason } = item.eventData as { reason?: string };
  return new FinalError(`What arrived is not a message: ${reason ?? 'no reason was given'}`);
}
