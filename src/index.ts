// Exports only, in the groups of docs/reference/api.md, which a test holds equal to this file.

// The names that matter.

export { WhizbangError } from './errors.js';
export { newMessageId } from './message-id.js';
export { defineCommand, defineEvent, streamIdOf } from './messages/index.js';
export { migrate } from './migrate/index.js';
export { FinalError, receptor, receptorFor } from './receptors/index.js';
export { inProcessTransport, postgresTransport } from './transports/index.js';
export { createWhizbang, Whizbang } from './whizbang.js';

// Their types, for those who name them.

export type { ConnectionPool, DatabaseOptions, PooledClient, Queryable } from './database/index.js';
export type {
  InvokeOptions,
  MessageScope,
  PublishManyOptions,
  PublishOptions,
  SendManyOptions,
  SendOptions,
} from './dispatch/index.js';
export type { WhizbangErrorCode, WhizbangErrorFacts } from './errors.js';
export type { Logger } from './logger.js';
export type { MessageId, StreamId } from './message.js';
export type {
  CommandDefinition,
  CommandOptions,
  CommandWithResultOptions,
  Envelope,
  EventDefinition,
  EventOptions,
  Hop,
  MessageDefinition,
  MessageIssue,
  MessageKind,
  MessageToSend,
  StandardSchema,
  Upcaster,
} from './messages/index.js';
export type { MigrateOptions, MigrationReport } from './migrate/index.js';
export type {
  ContextPublishOptions,
  ContextSendOptions,
  MakeReceptor,
  Receptor,
  ReceptorContext,
  ReceptorHandler,
  ReceptorOptions,
  RetryPolicy,
} from './receptors/index.js';
export type {
  MessageNotice,
  Readiness,
  WhizbangEvents,
  WhizbangOptions,
} from './runtime/index.js';
export type { RunInTransaction } from './work/index.js';

// For those who write a transport.

export {
  type Delivery,
  decodeMessage,
  encodeMessage,
  type InProcessTransport,
  type Receiver,
  type SendOutcome,
  type Subscription,
  type Transport,
  type TransportConnection,
  type TransportHost,
  type TransportMessage,
  type UnreadableContent,
} from './transports/index.js';

// The parts underneath, for those who coordinate their own work.

export {
  type CoordinatorOptions,
  type Instance,
  type WorkBatchRequest,
  WorkCoordinator,
} from './coordinator/index.js';
export { Dispatcher } from './dispatch/index.js';
export { errorCodes } from './errors.js';
export {
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
export {
  CallLine,
  type CallLineOptions,
  type CreateStrategyOptions,
  createStrategy,
  type QueuedUnit,
  type StrategyName,
  type WorkCoordinatorStrategy,
  type WorkUnit,
} from './strategies/index.js';
export {
  type ItemOutcome,
  type OrderedItem,
  OrderedStreamProcessor,
  type OrderedStreamProcessorOptions,
  type RunTogether,
  type StartedItem,
} from './work/index.js';
