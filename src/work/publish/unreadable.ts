import type { NewInboxMessage, WorkItem } from '../../message.js';
import { streamIdOf } from '../../messages/index.js';
import { FinalError } from '../../receptors/index.js';
import type { Delivery, UnreadableContent } from '../../transports/index.js';

/** Handler name of an unreadable delivery. Every instance has this handler; it makes a dead letter of it. */
export const unreadable = '(unreadable)';

/** Makes an inbox message whose id is derived from the bytes, so that a repeated delivery is stored once. */
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

/**
 * Returns the error of a message without a receptor. It is final for unreadable bytes, but not for an unknown
 * type: the next deployment may have a receptor for it.
 */
export function unreadableError(item: WorkItem): Error {
  if (item.destination !== unreadable) return new Error(`There is no receptor for ${item.eventType} here.`);
  const { reason } = item.eventData as { reason?: string };
  return new FinalError(`The delivered data is not a message: ${reason ?? 'no reason was given'}`);
}
