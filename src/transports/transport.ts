// How messages travel between services: what a broker has to be able to do, and nothing else.
// In: outbox messages to send; a subscription. Out: what became of each; deliveries to store and acknowledge.
// Called by the publisher and the consumer worker. A transport never touches the inbox or outbox tables (but for the
// PostgreSQL one, whose broker those are), never counts attempts and never acknowledges by itself.
// At least once is enough: the inbox takes a message id once. Order within a stream is the transport's to keep.

import type { Instance } from '../coordinator/index.js';
import type { ConnectionPool } from '../database/index.js';
import type { Logger } from '../logger.js';
import type { MessageId, StreamId } from '../message.js';

/** How messages travel between services. The rules: docs/guide/transports.md. */
export interface Transport {
  readonly name: string;
  /**
   * Set by the PostgreSQL transport alone. A message that only the sending service itself subscribes to then
   * goes straight to its inbox and never comes to `send`. A wrapper of that transport that has to see every
   * message leaves this out.
   */
  readonly sendsDirectly?: true;
  /**
   * Opens a connection. Each running service instance has one of its own. Rejects when the transport cannot
   * be reached.
   */
  connect(host: TransportHost): Promise<TransportConnection>;
}

/** The instance that connects. Its messages come from the queue that has the name of its service. */
export interface TransportHost {
  readonly instance: Instance;
  readonly pool: ConnectionPool;
  readonly schema: string;
  readonly logger: Logger;
}

/** The connection of one instance to a transport. */
export interface TransportConnection {
  /**
   * Sends in the given order and returns the outcome of each message, in the same order. A message that was
   * not sent holds back the later ones of its stream in the same call. Rejects only when the transport cannot
   * be reached and it is not known what was sent, or when the signal aborts. The worker then waits for
   * `ready` and sends all of them again, in the same order. An event to whose address no service has
   * subscribed is sent. A command (`kind` in its metadata) to such an address is refused by a transport that
   * can detect it.
   */
  send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]>;
  /**
   * Delivers what is sent to these addresses, each message to one instance of the service. The subscription
   * belongs to the service and outlives the connection: what is sent while no instance runs waits for one.
   * Deliveries of one stream come in the order in which they were sent, and a later one never goes to another
   * instance while an earlier one is unacknowledged. `deliver` must not throw. After an outage, deliveries
   * resume by themselves; those that were unacknowledged come again.
   */
  receive(subscription: Subscription, deliver: (delivery: Delivery) => void): Promise<Receiver>;
  /**
   * Resolves when the connection can send. Rejects when the signal aborts, or when the connection was closed.
   */
  ready(signal: AbortSignal): Promise<void>;
  /**
   * Closes the connection. After this nothing is delivered, and sending fails with DISPOSED. What was
   * delivered and not acknowledged is delivered again, to any instance of the service. May be called twice.
   */
  close(): Promise<void>;
}

/** A message on its way between two services. */
export interface TransportMessage {
  readonly messageId: MessageId;
  readonly address: string;
  readonly type: string;
  readonly payload: unknown;
  readonly metadata: unknown;
  readonly scope: unknown;
  readonly streamId: StreamId | null;
}

/** The outcome of sending one message. */
export type SendOutcome =
  /** The broker has stored it durably. */
  | { readonly kind: 'sent' }
  /**
   * Nothing is left to report. The transport has also completed the outbox row, in the same transaction. With
   * `lost`, it found that this instance does not hold the row any more and did nothing.
   */
  | { readonly kind: 'settled'; readonly lost?: true }
  /** The message was refused. `final`: a retry cannot help. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly final?: boolean }
  /** The message was not tried, because an earlier one of its stream was not sent. */
  | { readonly kind: 'held-back' };

/** The messages that a service wants to receive. */
export interface Subscription {
  /** The service's own name, for its commands, and the topics of the events that it handles. */
  readonly addresses: readonly string[];
  /** How many deliveries may be unacknowledged at one time. A receiver at this limit is sent no more. */
  readonly prefetch: number;
}

/** One message handed to an instance, until it is acknowledged or rejected. */
export interface Delivery {
  /** The message that arrived; or, when it cannot be read as a message, its bytes and the reason. */
  readonly content: TransportMessage | UnreadableContent;
  /**
   * Reports that the message is stored. Call it after the commit, never before. It resolves also when the
   * connection is gone; the message then comes again. Of `acknowledge` and `reject`, only the first call has
   * an effect.
   */
  acknowledge(): Promise<void>;
  /**
   * Reports that the message could not be stored: it comes again, perhaps at once. A caller that rejects
   * because something is down should wait first. The later unacknowledged deliveries of its stream are
   * rejected with it: they come again after it, and the caller must not store them now.
   */
  reject(): Promise<void>;
}

/** Content that no retry can make readable. It is to be set aside for people, and acknowledged. */
export interface UnreadableContent {
  readonly unreadable: string;
  readonly bytes: Uint8Array;
  /** The address it was sent to. */
  readonly address: string;
}

/** An active subscription. */
export interface Receiver {
  /**
   * Stops the subscription. There is no delivery after it has resolved. Earlier deliveries may still be
   * acknowledged.
   */
  stop(): Promise<void>;
}
