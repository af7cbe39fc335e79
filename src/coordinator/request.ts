import type {
  FlagBits,
  MessageCompletion,
  MessageFailure,
  MessageId,
  NewInboxMessage,
  NewOutboxMessage,
  PerspectiveCompletion,
  PerspectiveFailure,
  ReceptorCompletion,
  ReceptorFailure,
} from '../message.js';

/**
 * Everything that one call sends. All of it is optional: an empty request
 * is a heartbeat that also asks for work. A field that is left out takes
 * the option of the coordinator, or else the default of the SQL function.
 */
export interface WorkBatchRequest {
  readonly outboxCompletions?: readonly MessageCompletion[] | undefined;
  readonly outboxFailures?: readonly MessageFailure[] | undefined;
  readonly inboxCompletions?: readonly MessageCompletion[] | undefined;
  readonly inboxFailures?: readonly MessageFailure[] | undefined;
  readonly receptorCompletions?: readonly ReceptorCompletion[] | undefined;
  readonly receptorFailures?: readonly ReceptorFailure[] | undefined;
  readonly perspectiveCompletions?: readonly PerspectiveCompletion[] | undefined;
  readonly perspectiveFailures?: readonly PerspectiveFailure[] | undefined;
  readonly newOutboxMessages?: readonly NewOutboxMessage[] | undefined;
  readonly newInboxMessages?: readonly NewInboxMessage[] | undefined;
  readonly renewOutboxLeaseIds?: readonly MessageId[] | undefined;
  readonly renewInboxLeaseIds?: readonly MessageId[] | undefined;
  readonly flags?: FlagBits | undefined;
  readonly partitionCount?: number | undefined;
  readonly maxPartitionsPerInstance?: number | undefined;
  readonly leaseSeconds?: number | undefined;
  readonly staleThresholdSeconds?: number | undefined;
  /** How many items this call may hand out, per lane. Zero claims nothing and leaves what is stored unleased. */
  readonly maxOutboxItems?: number | undefined;
  readonly maxInboxItems?: number | undefined;
  readonly maxPerspectiveItems?: number | undefined;
  /** How long work must have been unleased before any instance may claim it. */
  readonly takeoverSeconds?: number | undefined;
  /**
   * The handlers of this instance. It is handed only inbox messages for one of them, and none that is
   * behind a message for another handler in its stream. Left out: messages for any handler. Empty: none.
   */
  readonly inboxHandlers?: readonly string[] | undefined;
  /**
   * How many streams could begin at once, per lane. So many may be of
   * other partitions, without waiting for `takeoverSeconds`. Default: 0.
   */
  readonly spareOutboxStreams?: number | undefined;
  readonly spareInboxStreams?: number | undefined;
  /**
   * The perspectives that this instance has code for, as `name@version`. It is handed only bookmarks of these.
   * Left out: none, whatever `maxPerspectiveItems` is.
   */
  readonly perspectives?: readonly string[] | undefined;
  /** Messages that take their place in their stream when they are due, and hold up nobody before. */
  readonly newTimers?: readonly NewOutboxMessage[] | undefined;
  /**
   * Limits at which streams wait, and how many of each may be handed out, with their first message only: a handler that
   * is not among `inboxHandlers`, or the name that `wh_wait_at_limit` was given. Left out: none.
   */
  readonly inboxLimits?: Readonly<Record<string, number>> | undefined;
  /** What the caller says of itself, kept with its heartbeat for who operates it. Once a second is often enough. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
}

/** Limits of a call that only stores or reports: it hands nothing out. */
export const noRoom = Object.freeze({ maxOutboxItems: 0, maxInboxItems: 0, maxPerspectiveItems: 0 });

/** The instance that makes the call. */
export interface Instance {
  readonly instanceId: string;
  readonly serviceName: string;
  readonly hostName: string;
  readonly processId: number;
  readonly metadata?: unknown;
}
