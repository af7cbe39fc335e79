// The vocabulary: what a message is on its way in, what a work item is on its way out, and what is reported back.
// Types and two tables of bits, nothing that runs. Known by every folder; knows nobody.

/** Bits of `status`: the stages a message has passed. They accumulate. */
export const MessageProcessingStatus = {
  Stored: 1,
  EventStored: 2,
  Published: 4,
  ReceptorProcessed: 8,
  PerspectiveProcessed: 16,
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
  HighPriority: 16,
  RetryAfterFailure: 32,
  LeaseLost: 64,
  /** On a call: it wants to be told when it could only put things in order and there is more. On a row: that is so. */
  LookAgain: 128,
  /** On a call: new outbox messages that only this schema listens to go straight to its inbox, and are handed out from there. */
  Direct: 256,
  /**
   * On a call: new inbox messages may be leased behind those of their stream that the caller still holds. It gives them back unhandled
   * when one before them has not succeeded. On a row: that is so, or was a moment before.
   */
  Continues: 512,
} as const;
export type WorkBatchFlags = (typeof WorkBatchFlags)[keyof typeof WorkBatchFlags];

/** A sum of MessageProcessingStatus bits. */
export type StatusBits = number;
/** A sum of WorkBatchFlags bits. */
export type FlagBits = number;

/** UUIDs, written as text. `newMessageId()` makes ones that sort by time. */
export type MessageId = string;
/** A UUID, as text. Messages of one stream are handled in order. */
export type StreamId = string;
/** A UUID, as text: the message id of an event. */
export type EventId = string;
/** A UUID, as text: a running copy of a service. */
export type InstanceId = string;

/** The lane that an item is of. */
export type WorkSource = 'outbox' | 'inbox' | 'perspective';

interface NewMessage {
  readonly messageId: MessageId;
  readonly eventType: string;
  /** Anything JSON can hold, but not null. */
  readonly eventData: unknown;
  readonly metadata?: unknown;
  readonly scope?: unknown;
  /** Messages of one stream are handled in order. Without a stream a message is on its own. */
  readonly streamId?: StreamId | null | undefined;
  /** With a stream: the message is also appended to the event store. */
  readonly isEvent?: boolean | undefined;
  /** Not to be handed out before this time, which is the database's. */
  readonly scheduledFor?: Date | undefined;
  /** Instead of scheduledFor: not before so long from now, counted by the database. */
  readonly delaySeconds?: number | undefined;
  /** The version of the stream before this event, 0 for a new stream. Refused (EXPECTED_VERSION) when it is another. */
  readonly expectedVersion?: number | undefined;
}

/** A message to leave this service. */
export interface NewOutboxMessage extends NewMessage {
  readonly destination: string;
  /**
   * The inbox message that it came of: it is stored only if the report of this call on that one is accepted, so that what a
   * handler sent goes with its completion or not at all.
   */
  readonly onlyWith?: MessageId | undefined;
}

/** A message that has come in. Its id enters the inbox once, for ever. */
export interface NewInboxMessage extends NewMessage {
  readonly handlerName: string;
}

/** The stages now done. Status 0 gives the lease back and changes nothing else. */
export interface MessageCompletion {
  readonly messageId: MessageId;
  readonly status: StatusBits;
}

/** An attempt that failed, as it is reported. */
export interface MessageFailure {
  readonly messageId: MessageId;
  /** The stages that were done before it failed. */
  readonly completedStatus: StatusBits;
  readonly error: string;
  /** Fractions allowed. Without it the database chooses a delay that grows with the attempts. */
  readonly retryAfterSeconds?: number | undefined;
  /** Give up: the message moves to wh_dead_letters and its stream goes on. */
  readonly deadLetter?: boolean | undefined;
  /**
   * Which attempt has failed: the item's `attempts` plus one. A report that comes late, when that attempt is counted already,
   * is refused then (LeaseLost) and not counted against the next one.
   */
  readonly attempt?: number | undefined;
}

/** A receptor that has handled an event. */
export interface ReceptorCompletion {
  readonly eventId: EventId;
  readonly receptorName: string;
  readonly status: StatusBits;
}

/** A receptor that has failed at an event. */
export interface ReceptorFailure extends ReceptorCompletion {
  readonly error: string;
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
  /** The last one applied; absent when it failed at the first. */
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
  /** By the database's clock. */
  readonly leaseExpiry: Date;
}

/** Something the caller reported on or wanted to renew, and does not hold: its report was not applied. */
export interface LostLease {
  readonly source: WorkSource;
  readonly messageId: MessageId;
}

/** What one call handed out. Items of one stream are in their order. */
export interface WorkBatch {
  readonly outbox: readonly WorkItem[];
  readonly inbox: readonly WorkItem[];
  readonly perspectives: readonly WorkItem[];
  readonly leaseLost: readonly LostLease[];
  /** The call asked by the flag LookAgain: it has only put things in order, and there is more. Call again at once. */
  readonly looksAgain?: boolean;
}
