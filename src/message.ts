// The vocabulary: what a message is on its way in, what a
// work item is on its way out, and what is reported back.
// Types and two tables of bits, nothing that runs. Every folder imports it; it imports none.

/** Bits of `status`: the stages a message has passed. They accumulate. */
export const MessageProcessingStatus = {
  Stored: 1,
  EventStored: 2,
  Published: 4,
  ReceptorProcessed: 8,
  PerspectiveProcessed: 16,
  /** Given up: it stays until `onGivenUp` of its receptors has run, which buries it. */
  GivenUp: 32,
  Failed: 32768,
} as const;
export type MessageProcessingStatus = (typeof MessageProcessingStatus)[keyof typeof MessageProcessingStatus];

/** Bits of `flags`: on a call what it asks for, on an item why it was handed out. */
export const WorkBatchFlags = {
  None: 0,
  NewlyStored: 1,
  Orphaned: 2,
  DebugMode: 4,
  FromEventStore: 8,
  /** On an item: its priority is above 0. */
  HighPriority: 16,
  RetryAfterFailure: 32,
  LeaseLost: 64,
  /**
   * On a call: asks for a row with this flag when the call could only
   * put things in order and there is more. On a row: that is so.
   */
  LookAgain: 128,
  /**
   * On a call: new outbox messages that only this schema listens
   * to go straight to its inbox, and are handed out from there.
   */
  Direct: 256,
  /**
   * On a call: new inbox messages may be leased behind those of their stream that the
   * caller still holds. The caller gives them back unhandled when one before them has
   * not succeeded. On a row: the message is behind such a one, or was a moment before.
   */
  Continues: 512,
  /** On a call: asks for a row with this flag for each new message that is known already. On a row: that is so. */
  Duplicate: 1024,
} as const;
export type WorkBatchFlags = (typeof WorkBatchFlags)[keyof typeof WorkBatchFlags];

/** A sum of MessageProcessingStatus bits. */
export type StatusBits = number;
/** A sum of WorkBatchFlags bits. */
export type FlagBits = number;

/** A UUID, as text. `newMessageId()` makes UUIDs that sort by time. */
export type MessageId = string;
/** A UUID, as text. Messages of one stream are handled in order. */
export type StreamId = string;
/** A UUID, as text: the message id of an event. */
export type EventId = string;
/** A UUID, as text: a running copy of a service. */
export type InstanceId = string;

/** The lane of an item. */
export type WorkSource = 'outbox' | 'inbox' | 'perspective';

interface NewMessage {
  readonly messageId: MessageId;
  readonly eventType: string;
  /** Anything that JSON can hold, but not null. */
  readonly eventData: unknown;
  readonly metadata?: unknown;
  readonly scope?: unknown;
  /** Messages of one stream are handled in order. Without a stream a message is on its own. */
  readonly streamId?: StreamId | null | undefined;
  /** With a stream: the message is also appended to the event store. */
  readonly isEvent?: boolean | undefined;
  /** The time before which it is not handed out, by the database's clock. */
  readonly scheduledFor?: Date | undefined;
  /** A delay from now, counted by the database, instead of scheduledFor. */
  readonly delaySeconds?: number | undefined;
  /**
   * The version of the stream before this event, 0 for a new
   * stream. If it differs, the event is refused (EXPECTED_VERSION).
   */
  readonly expectedVersion?: number | undefined;
  /** A whole number; higher first. Default: 0. */
  readonly priority?: number | undefined;
}

/** A message that this service sends. */
export interface NewOutboxMessage extends NewMessage {
  readonly destination: string;
  /**
   * The inbox message whose handler sent it. It is stored only if the report of this call on that
   * message is accepted, so that what a handler sent is stored with its completion or not at all.
   */
  readonly onlyWith?: MessageId | undefined;
  /**
   * True: until its time (scheduledFor or delaySeconds) it waits as a timer, outside its stream, and takes its
   * place there when it is due. Otherwise it has its place at once, and what follows in the stream waits too.
   */
  readonly isTimer?: boolean | undefined;
}

/** A message that was received. Its id enters the inbox only once, without a time limit. */
export interface NewInboxMessage extends NewMessage {
  readonly handlerName: string;
  /**
   * The message of its stream that was delivered before it, though its sender had handed it out later. If this one is
   * new, that is noted as a violation of the order.
   */
  readonly arrivedAfter?: MessageId | undefined;
}

/** A report of the stages that are now done. Status 0 gives the lease back and changes nothing else. */
export interface MessageCompletion {
  readonly messageId: MessageId;
  readonly status: StatusBits;
}

/** An attempt that failed, as it is reported. */
export interface MessageFailure {
  readonly messageId: MessageId;
  /** The stages that were done before it failed. */
  readonly completedStatus: StatusBits;
  /** Absent where it is not `counted`: the error of the last failure stays. */
  readonly error?: string | undefined;
  /**
   * The delay before the retry. Fractions are allowed. Without it
   * the database chooses a delay that grows with the attempts.
   */
  readonly retryAfterSeconds?: number | undefined;
  /** True gives up: the message moves to wh_dead_letters and its stream goes on. */
  readonly deadLetter?: boolean | undefined;
  /**
   * The attempt that failed: the item's `attempts` plus one. A late report, on an attempt that
   * is counted already, is then refused (LeaseLost) and not counted against the next one.
   */
  readonly attempt?: number | undefined;
  /**
   * False: nothing has failed since the last report. The message only waits, or is
   * given up. Its attempts and its list of failures stay as they are. Default: true.
   */
  readonly counted?: boolean | undefined;
}

/** A receptor that has handled an event. */
export interface ReceptorCompletion {
  readonly eventId: EventId;
  readonly receptorName: string;
  readonly status: StatusBits;
  /** The attempt of this receptor, 1 for the first. Without it the database counts the failures. */
  readonly attempt?: number | undefined;
  /** How long the attempt took. */
  readonly tookSeconds?: number | undefined;
}

/** A receptor that has failed at an event. */
export interface ReceptorFailure extends ReceptorCompletion {
  readonly error: string;
  /** The delay before it is tried again. */
  readonly retryAfterSeconds?: number | undefined;
  /** True: it is not tried again, unless the message is put back after it became a dead letter. */
  readonly givenUp?: boolean | undefined;
}

/** How far a perspective has come in a stream. */
export interface PerspectiveCompletion {
  readonly streamId: StreamId;
  readonly perspectiveName: string;
  readonly lastEventId: EventId;
  readonly status: StatusBits;
}

/** A perspective that has failed in a stream. */
export interface PerspectiveFailure extends Omit<PerspectiveCompletion, 'lastEventId'> {
  /** The last event that was applied. Absent when the first one failed. */
  readonly lastEventId?: EventId | null | undefined;
  readonly error: string;
}

/** Work leased to the instance that asked for it. */
export interface WorkItem {
  readonly source: WorkSource;
  readonly messageId: MessageId;
  readonly streamId: StreamId | null;
  readonly partitionNumber: number;
  /** Where an outbox message goes; the handler of an inbox message; the name of a perspective. */
  readonly destination: string;
  readonly eventType: string;
  readonly eventData: unknown;
  readonly metadata: unknown;
  readonly scope: unknown;
  readonly status: StatusBits;
  readonly flags: FlagBits;
  readonly attempts: number;
  readonly sequenceOrder: bigint;
  /** The end of the lease, by the database's clock. */
  readonly leaseExpiry: Date;
}

/** An item that the caller reported on or wanted to renew, but does not hold. Its report was not applied. */
export interface LostLease {
  readonly source: WorkSource;
  readonly messageId: MessageId;
}

/** A new message of a call that was not stored, because the lane knows its id. */
export interface DuplicateMessage {
  readonly source: WorkSource;
  readonly messageId: MessageId;
}

/** What one call handed out. Items of one stream are in their order. */
export interface WorkBatch {
  readonly outbox: readonly WorkItem[];
  readonly inbox: readonly WorkItem[];
  readonly perspectives: readonly WorkItem[];
  readonly leaseLost: readonly LostLease[];
  /**
   * Set when the call had the flag LookAgain, could only put
   * things in order, and there is more. Call again at once.
   */
  readonly looksAgain?: boolean;
  /** Set when the call had the flag Duplicate and there were some. */
  readonly duplicates?: readonly DuplicateMessage[];
}
