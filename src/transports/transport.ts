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
   * Of the PostgreSQL transport alone: what only the service itself listens to goes straight to its inbox, and never
   * comes to `send`. Who wraps that transport to see everything leaves this out.
   */
  readonly sendsDirectly?: true;
  /** Each running service instance has a connection of its own. Fails when the transport cannot be reached. */
  connect(host: TransportHost): Promise<TransportConnection>;
}

/** The instance that connects. Its service name is that of the queue from which its messages come. */
export interface TransportHost {
  readonly instance: Instance;
  readonly pool: ConnectionPool;
  readonly schema: string;
  readonly logger: Logger;
}

/** What an instance has of a transport. */
export interface TransportConnection {
  /**
   * Sends in the given order and says of each what became of it, in the same order. A message that was not sent
   * holds back the later ones of its stream in the same call. Rejects only when the transport cannot be reached and
   * it is not known what was sent, or when the signal aborts: the worker then waits for `ready` and sends all of them
   * again, in the same order. An event to whose address nobody has
   * subscribed is sent; a command (`kind` in its metadata) is refused there, by a transport that can know it.
   */
  send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]>;
  /**
   * Delivers what is sent to these addresses, each message to one instance of the service. The subscription belongs
   * to the service and outlives the connection: what is sent while no instance runs waits for one.
   * Deliveries of one stream come in the order in which they were sent, and a later one never goes to another
   * instance while an earlier one is unacknowledged. `deliver` must not throw. After an outage, deliveries go on by
   * themselves; those that were unacknowledged come again.
   */
  receive(subscription: Subscription, deliver: (delivery: Delivery) => void): Promise<Receiver>;
  /** Resolves when it can send; rejects when the signal aborts, or when the connection was closed. */
  ready(signal: AbortSignal): Promise<void>;
  /**
   * After this nothing is delivered, and sending fails with DISPOSED. What was delivered and not acknowledged is
   * delivered again, to anyone. May be called twice.
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

/** What became of a message that was to be sent. */
export type SendOutcome =
  /** The broker has it for good. */
  | { readonly kind: 'sent' }
  /**
   * Nothing is left to report: the transport has also completed the outbox row, in the same transaction; or, `lost`,
   * it found that this instance does not hold the row any more and did nothing.
   */
  | { readonly kind: 'settled'; readonly lost?: true }
  /** Refused. `final`: trying again cannot help. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly final?: boolean }
  /** Not tried, because an earlier one of its stream was not sent. */
  | { readonly kind: 'held-back' };

/** What a service wants to receive. */
export interface Subscription {
  /** The service's own name, for its commands, and the topics of the events that it handles. */
  readonly addresses: readonly string[];
  /** How many deliveries may be unacknowledged at one time: who cannot store any more is sent no more. */
  readonly prefetch: number;
}

/** What a transport hands to an instance, until it is acknowledged or rejected. */
export interface Delivery {
  /** What arrived; or, when it cannot be read as a message, its bytes and the reason. */
  readonly content: TransportMessage | UnreadableContent;
  /**
   * It is stored: call it after the commit, never before. Resolves also when the connection is gone: then the message
   * comes again. The second call of the two below does nothing.
   */
  acknowledge(): Promise<void>;
  /**
   * It could not be stored: it shall come again, perhaps at once, so whoever rejects because something is down waits
   * first. It takes the later unacknowledged deliveries of its stream with it: they come again after it, and the caller
   * must not store them now.
   */
  reject(): Promise<void>;
}

/** What no try can make readable. To be put aside for people, and acknowledged. */
export interface UnreadableContent {
  readonly unreadable: string;
  readonly bytes: Uint8Array;
  /** Where it was sent to. */
  readonly address: string;
}

/** A subscription at work. */
export interface Receiver {
  /** No delivery after it has resolved. Deliveries under way may still be acknowledged. */
  stop(): Promise<void>;
}
