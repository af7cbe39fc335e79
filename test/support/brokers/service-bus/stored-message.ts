import type { Message } from 'rhea';
import type { SessionLink } from './session-link.js';

/** A message in a queue or subscription. It keeps its place until it is completed. */
export interface StoredMessage {
  readonly sequence: number;
  readonly message: Message;
  readonly enqueuedAt: number;
  deliveryCount: number;
  lockedBy: SessionLink | undefined;
}

/** The session of a message; at AMQP its group id. */
export const sessionOf = ({ message }: StoredMessage): string => String(message.group_id ?? '');
