// The door `whizbang/coordination`: the parts that `createWhizbang` puts together, for programs that coordinate work of
// their own. Exports only, in the groups of docs/reference/api.md, which a test holds equal to this file.

// The call.

export {
  type CoordinatorOptions,
  type Instance,
  type WorkBatchRequest,
  WorkCoordinator,
} from './coordinator/index.js';
export {
  type DuplicateMessage,
  type EventId,
  type FlagBits,
  type InstanceId,
  type LostLease,
  type MessageCompletion,
  type MessageFailure,
  MessageProcessingStatus,
  type NewInboxMessage,
  type NewOutboxMessage,
  type PerspectiveCompletion,
  type PerspectiveFailure,
  type ReceptorCompletion,
  type ReceptorFailure,
  type StatusBits,
  type WorkBatch,
  WorkBatchFlags,
  type WorkItem,
  type WorkSource,
} from './message.js';

// When it is made.

export {
  CallLine,
  type CallLineOptions,
  type CreateStrategyOptions,
  createStrategy,
  type Fate,
  type QueuedUnit,
  type RoomNow,
  type RunOptions,
  type RunResult,
  type StrategyName,
  type WorkCoordinatorStrategy,
  type WorkUnit,
} from './strategies/index.js';

// The order in which what it hands out is run.

export {
  type ItemOutcome,
  type OrderedItem,
  OrderedStreamProcessor,
  type OrderedStreamProcessorOptions,
  type RunTogether,
  type StartedItem,
} from './work/index.js';
