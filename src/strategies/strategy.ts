// When a batch is sent, never what is in it.
// Three ways behind one interface: at once, at the end of a scope, by a timer.
// In: new messages, completions, failures, renewals.
// Out: calls of the coordinator, one at a time per instance.
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

/** Messages, reports and renewals that have to be sent in one call or not at all. */
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
   * Resolves when a call with this unit was committed. Rejects when the database
   * refused this very unit, when it was withdrawn, or when the strategy was disposed
   * and could not send it. It stays pending through temporary failures. It need not
   * be read: a refusal of a unit whose `carried` was not read goes to `onError`.
   */
  readonly carried: Promise<void>;
  /**
   * Removes the unit from the queue, unless a call has it
   * at this moment. Returns whether it was in the queue.
   */
  withdraw(): boolean;
}

/** Queues what is to be sent to the database, and decides when a call sends it. */
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
   * Sends all that is queued, and asks for work also when nothing is queued. Rejects
   * when the call failed; then everything is still queued, in its order. A unit that
   * the database refused by itself is no longer queued: only its own `carried` rejects.
   */
  flush(): Promise<WorkBatch>;
  /** Flushes for the last time. After it, all methods above fail with DISPOSED. */
  dispose(): Promise<void>;
}
