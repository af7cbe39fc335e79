import type { NewInboxMessage, NewOutboxMessage } from '../../src/message.js';
import { newMessageId } from '../../src/message-id.js';

export function outboxMessage(more: Partial<NewOutboxMessage> = {}): NewOutboxMessage {
  return {
    messageId: newMessageId(),
    destination: 'billing',
    eventType: 'OrderPlaced',
    eventData: { n: 1 },
    ...more,
  };
}

export function inboxMessage(more: Partial<NewInboxMessage> = {}): NewInboxMessage {
  return {
    messageId: newMessageId(),
    handlerName: 'bill',
    eventType: 'OrderPlaced',
    eventData: { n: 1 },
    ...more,
  };
}
