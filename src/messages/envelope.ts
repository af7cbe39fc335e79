import type { MessageId, StreamId } from '../message.js';
import type { Scope } from '../register.js';

/** The kind of a message: a command is something to be done, an event is something that has happened. */
export type MessageKind = 'command' | 'event';

/** A service that a message has passed through. Hops are listed oldest first. */
export interface Hop {
  readonly service: string;
  readonly instanceId: string;
  /** The time of sending by that instance's clock: for people, never for order. */
  readonly at: string;
}

/**
 * A message with all that is sent with it. In the tables, `message_id`, `event_type`, `event_data`,
 * `stream_id` and `scope` are columns; the rest is `metadata`.
 */
export interface Envelope<Payload = unknown> {
  readonly messageId: MessageId;
  readonly type: string;
  readonly kind: MessageKind;
  readonly payload: Payload;
  readonly streamId: StreamId | null;
  /** The same id for all messages that result from one first message. */
  readonly correlationId: MessageId;
  /** The message whose handler sent this one; null when it came from outside a handler. */
  readonly causationId: MessageId | null;
  readonly hops: readonly Hop[];
  /**
   * The owner, such as a tenant or a user. It is copied to everything that is sent while handling this
   * message.
   */
  readonly scope: Scope;
  /** W3C trace context. */
  readonly traceparent: string;
  readonly tracestate: string | null;
  /** The version of the payload's shape as it was sent. */
  readonly schemaVersion: number;
  /** What the stream of an event is about, when its definition says so. */
  readonly aggregateType?: string | undefined;
}

/** The content of `metadata`, as JSON. All of it may be missing in rows that other programs insert. */
export interface EnvelopeMetadata {
  readonly kind: MessageKind;
  readonly correlationId: MessageId;
  readonly causationId: MessageId | null;
  readonly hops: readonly Hop[];
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
  readonly schemaVersion: number;
  readonly aggregateType?: string | undefined;
  /** Absent: 0. */
  readonly priority?: number | undefined;
}
