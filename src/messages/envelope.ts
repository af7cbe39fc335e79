import type { MessageId, StreamId } from '../message.js';

/** A command says what is to be done, an event what has happened. */
export type MessageKind = 'command' | 'event';

/** A service that a message has passed, oldest first. */
export interface Hop {
  readonly service: string;
  readonly instanceId: string;
  /** When it was sent on, by that instance's clock: for people, never for order. */
  readonly at: string;
}

/**
 * A message with all that travels with it. In the tables: `message_id`, `event_type`, `event_data`, `stream_id` and
 * `scope` are columns, the rest is `metadata`.
 */
export interface Envelope<Payload = unknown> {
  readonly messageId: MessageId;
  readonly type: string;
  readonly kind: MessageKind;
  readonly payload: Payload;
  readonly streamId: StreamId | null;
  /** The same for everything that one first message set off. */
  readonly correlationId: MessageId;
  /** The message whose handler sent this one; null when it came from outside a handler. */
  readonly causationId: MessageId | null;
  readonly hops: readonly Hop[];
  /** Whose it is: a tenant, a user. Handed on to everything that is sent while handling it. */
  readonly scope: unknown;
  /** W3C trace context. */
  readonly traceparent: string;
  readonly tracestate: string | null;
  /** The version of the payload's shape as it was sent. */
  readonly schemaVersion: number;
}

/** What `metadata` holds, as JSON. All of it may be missing in what other programs insert. */
export interface EnvelopeMetadata {
  readonly kind: MessageKind;
  readonly correlationId: MessageId;
  readonly causationId: MessageId | null;
  readonly hops: readonly Hop[];
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
  readonly schemaVersion: number;
}
