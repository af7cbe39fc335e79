// What an application needs. Exports only, in the groups of
// docs/reference/api.md, which a test holds equal to this file.
// The other doors: transport.ts to write a transport, coordination.ts to coordinate work of your own.

// The names that matter.

export { errorCodes, WhizbangError } from './errors.js';
export { decider, keyedPerspective, perspective, perspectiveFor } from './fold/index.js';
export { newMessageId } from './message-id.js';
export { defineCommand, defineEvent, streamIdOf } from './messages/index.js';
export { migrate } from './migrate/index.js';
export { batchReceptor, batchReceptorFor, FinalError, receptor, receptorFor } from './receptors/index.js';
export { schedule } from './schedules/index.js';
export { inProcessTransport, postgresTransport } from './transports/index.js';
export { createWhizbang } from './whizbang.js';

// Their types, for code that names them.

export type { ConnectionPool, DatabaseOptions, PooledClient, Queryable } from './database/index.js';
export type {
  AppendOptions,
  Dispatcher,
  InvokeOptions,
  MessageScope,
  PublishManyOptions,
  PublishOptions,
  RequestOptions,
  Sender,
  SendManyOptions,
  SendOptions,
  UniqueOptions,
  UniqueReceipt,
} from './dispatch/index.js';
export type { WhizbangErrorCode, WhizbangErrorFacts } from './errors.js';
export type {
  AllOptions,
  ArchivedStream,
  EventStore,
  Forgotten,
  InTransaction,
  LoggedEvent,
  StreamOptions,
} from './events/index.js';
export type {
  AppendReceipt,
  DecideReceipt,
  Decider,
  DeciderOptions,
  Decision,
  Fold,
  KeyedPerspective,
  KeyedPerspectiveOptions,
  Perspective,
  PerspectiveOptions,
  Receipt,
  StoredEvent,
  StreamVersion,
} from './fold/index.js';
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
  PayloadOf,
  SealedOptions,
  StandardSchema,
  Upcaster,
} from './messages/index.js';
export type { MigrateOptions, MigrationReport } from './migrate/index.js';
export type {
  DeadLetter,
  DeadLetterActionOptions,
  DeadLetterFilter,
  DeadLetterListOptions,
  DeadLetters,
  DiscardedLetter,
  MessageState,
  Operation,
  OperationOptions,
  Operations,
  PastFailure,
  Pausable,
  Pause,
  ReasonedOperationOptions,
  RetriedLetter,
  StoredMessage,
  StoredMessages,
} from './operate/index.js';
export type {
  BuildDifferences,
  BuildStatus,
  DiffOptions,
  FailingBatch,
  FindOptions,
  FoundModel,
  GetOptions,
  HeldStream,
  ModelDifference,
  Models,
  ModelsOf,
  PerspectiveBuilds,
  PerspectiveOperations,
  PerspectiveStatus,
  RebuildOptions,
  SkipOptions,
  SwitchOptions,
  Waiting,
  WaitOptions,
  Written,
} from './perspectives/index.js';
export type {
  Around,
  BatchContext,
  BatchHandler,
  BatchOptions,
  GivenUpHandler,
  LimitOptions,
  MakeBatchReceptor,
  MakeReceptor,
  Rate,
  Receptor,
  ReceptorContext,
  ReceptorHandler,
  ReceptorLimit,
  ReceptorOptions,
  RetryPolicy,
} from './receptors/index.js';
// By a star, so that a program can declare its scope: `declare module 'whizbang' { interface Register { … } }`.
export * from './register.js';
export type { HistoryOptions, RetentionOptions, RetentionRule } from './retention/index.js';
export type {
  MessageNotice,
  Readiness,
  WhizbangEvents,
  WhizbangOptions,
} from './runtime/index.js';
export type { CatchUp, Schedule, ScheduleInfo, ScheduleOptions, Schedules } from './schedules/index.js';
export type { TelemetryOptions } from './telemetry/index.js';
export type { Timer, TimerFilter, Timers } from './timers/index.js';
export type { OtherDatabaseOptions, PostgresTransportOptions } from './transports/index.js';
export type { Whizbang } from './whizbang.js';
export type { RunInTransaction } from './work/index.js';
