import type { WorkItem } from '../../message.js';
import { traceIdOf } from '../../messages/index.js';

/** An attempt that failed. */
export interface FailedAttempt {
  readonly source: 'outbox' | 'inbox';
  readonly messageId: string;
  readonly type: string;
  readonly streamId: string | null;
  /** The trace that the message was sent in. Absent: it was sent in none. */
  readonly traceId?: string;
  /** The name of the receptor that failed. Absent: none did, or several have. */
  readonly receptor?: string;
  readonly attempt: number;
  readonly error: unknown;
}

/** Those who are told of a decision. */
export interface DecisionListeners {
  /**
   * Called when the message is retried. Without `retryAfterSeconds` this receptor is given up, and the message
   * goes on with its other receptors.
   */
  readonly onRetry: (attempt: FailedAttempt & { readonly retryAfterSeconds?: number }) => void;
  /** Called when the message becomes a dead letter. */
  readonly onGivenUp: (attempt: FailedAttempt) => void;
  /** Called when the message is due again after this time. */
  readonly onWait: (seconds: number) => void;
}

export function messageOf({ source, messageId, eventType: type, streamId, metadata }: WorkItem) {
  const traceId = traceIdOf(metadata);
  const trace = traceId === undefined ? {} : { traceId };
  return { source: source as FailedAttempt['source'], messageId, type, streamId, ...trace };
}
