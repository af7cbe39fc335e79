// Looking at a service and its messages, and acting on them, for who operates it: from code, from the command line, or by the same functions in SQL.
// In: ids of messages, filters. Out: states, messages, and what was done.
// Called by users, through the composition root and the command line. It never handles or sends anything itself.
export {
  type DeadLetter,
  type DeadLetterActionOptions,
  type DeadLetterFilter,
  type DeadLetterListOptions,
  DeadLetters,
  type DiscardedLetter,
  type RetriedLetter,
} from './dead-letters.js';
export { type Explanation, explain } from './explain.js';
export {
  countDeadLetters,
  findDeadLetterHead,
  listDeadLetterHeads,
  listEvents,
  listOperations,
  listPauses,
  type Operation,
  type Pause,
} from './journal.js';
export {
  type OperationOptions,
  Operations,
  type Pausable,
  type ReasonedOperationOptions,
} from './operations.js';
export { type InstanceStatus, Operator, type ServiceStatus, type StreamStatus } from './operator.js';
export { retryNow } from './retry-now.js';
export {
  type MessageState,
  type PastFailure,
  type StoredMessage,
  StoredMessages,
} from './stored-messages.js';
export { statusOfFound, waitingStreams } from './waiting-streams.js';
export { Watch } from './watch.js';
