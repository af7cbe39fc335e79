// What an application needs. Exports only, in the groups of
// docs/reference/api.md, which a test holds equal to this file.
// The other doors: transport.ts to write a transport, coordination.ts to coordinate work of your own.

// The names that matter.

export { errorCodes, WhizbangError } from './errors.js';
export { decider, keyedPerspective, perspective, perspectiveFor } from './fold/index.js';
export { newMessageId } from './message-id.js';
export { defineCommand, defineEvent, streamIdOf } from './messages/index.js';
export { migrate } from './migrate/index.js';
export { FinalError, receptor, receptorFor } from './receptors/index.js';
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
  SendManyOptions,
  SendOptions,
} from './dispatch/index.js';
export type { WhizbangErrorCode, WhizbangErrorFacts } from './errors.js';
export type {
  AllOptions,
  ArchivedStream,
  EventStore,
  Forgotten,
  InTransaction,
  LoggedEvent,
  RetentionRule,
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
  SealedOptions,
  StandardSchema,
  Upcaster,
} from './messages/index.js';
export type { MigrateOptions, MigrationReport } from './migrate/index.js';
export type {
  BuildDifferences,
  BuildStatus,
  DiffOptions,
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
export type { Whizbang } from './whizbang.js';
export type { RunInTransaction } from './work/index.js';
