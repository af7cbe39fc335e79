// When a batch leaves, never what is in it. Three ways behind one interface: at once, at the end of a scope, by a timer.
// In: new messages, completions, failures, renewals. Out: calls of the coordinator, one at a time per instance.
// Called by the dispatcher and the workers, or by a program directly.
import type { WorkBatchRequest } from '../coordinator/index.js';
import type {
  MessageCompletion,
  MessageFailure,
  MessageId,
  NewInboxMessage,
  NewOutboxMessage,
  ReceptorCompletion,
  ReceptorFailure,
  WorkBatch,
} from '../message.js';

/** What has to travel in one call or not at all. */
export type WorkUnit = Pick<
  WorkBatchRequest,
  | 'newOutboxMessages'
  | 'newInboxMessages'
  | 'outboxCompletions'
  | 'outboxFailures'
  | 'inboxCompletions'
  | 'inboxFailures'
  | 'receptorCompletions'
  | 'receptorFailures'
  | 'renewOutboxLeaseIds'
  | 'renewInboxLeaseIds'
>;

/** A unit that waits for its call. */
export interface QueuedUnit {
  /**
   * Resolves when a call that carried it was committed; rejects when the database refused this very unit, when it
   * was withdrawn, or when the strategy was disposed without being able to send it. It stays pending through
   * failures that will pass. Nobody has to listen to it: a refusal nobody listens to goes to `onError`.
   */
  readonly carried: Promise<void>;
  /** Takes it out of the queue, when no call has it at this moment. Returns whether it was there. */
  withdraw(): boolean;
}

/** Queues what is to be said to the database, and decides when a call says it. */
export interface WorkCoordinatorStrategy extends AsyncDisposable {
  queue(unit: WorkUnit): QueuedUnit;
  queueOutboxMessage(message: NewOutboxMessage): QueuedUnit;
  queueInboxMessage(message: NewInboxMessage): QueuedUnit;
  queueOutboxCompletion(completion: MessageCompletion): QueuedUnit;
  queueOutboxFailure(failure: MessageFailure): QueuedUnit;
  queueInboxCompletion(completion: MessageCompletion): QueuedUnit;
  queueInboxFailure(failure: MessageFailure): QueuedUnit;
  queueReceptorCompletion(completion: ReceptorCompletion): QueuedUnit;
  queueReceptorFailure(failure: ReceptorFailure): QueuedUnit;
  renewOutboxLease(messageId: MessageId): QueuedUnit;
  renewInboxLease(messageId: MessageId): QueuedUnit;
  /**
   * Sends all that is queued, and asks for work also when nothing is. Rejects when the call failed; then everything
   * is still queued, in its order. A unit that the database refused by itself is not queued any more: only its own
   * `carried` rejects.
   */
  flush(): Promise<WorkBatch>;
  /** Flushes for the last time; after it everything above fails with DISPOSED. */
  dispose(): Promise<void>;
}
