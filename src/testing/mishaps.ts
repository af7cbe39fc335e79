import type { MessageId } from '../message.js';

/** A failed attempt: the message is retried, or has become a dead letter. */
export interface Failure {
  readonly source: 'outbox' | 'inbox';
  readonly messageId: MessageId;
  /** The receptor that failed. Absent where none is known. */
  readonly receptor?: string | undefined;
  readonly attempt: number;
  readonly error: unknown;
  /** Whether the message became a dead letter after it. */
  readonly isFinal: boolean;
}
