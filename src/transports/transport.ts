// How messages travel between services: what a broker has to be able to do, and nothing else.
// In: outbox messages to send; a subscription. Out: what became of each; deliveries to store and acknowledge.
// Called by the publisher and the consumer worker. A transport never touches the inbox or outbox tables (but for the
// PostgreSQL one, whose broker those are), never counts attempts and never acknowledges by itself.
// At least once is enough: the inbox takes a message id once. Order within a stream is the transport's to keep.
//
// Why order survives duplicates, late instances and takeovers: FIRST OCCURRENCE. Every sender sends a stream from its
// first unfinished message on, in order; every receiver stores from the earliest unacknowledged one on, in order; the
// inbox keeps the first occurrence of an id. Then the first occurrences are in the order of the stream, whoever is late.
// A broker breaks this in one of these ways, so each is a rule:
// 1. No message of a stream is on its way while an earlier one is unconfirmed, unless the broker itself fails all that
//    follow a failed one. Otherwise send in waves: see `sendInWaves`.
// 2. What was delivered and not acknowledged comes again before anything newer of its stream: after a rejection, after a
//    close, after kill -9, also when newer messages already wait.
// 3. What moves between instances is the transport's choice (`traits.moves`): a stream, a shard or the whole service.
//    While one message of it is unacknowledged, no other instance gets anything of it.
// 4. The broker never gives up, expires or limits by itself: delivery limits, lifetimes, length limits and dead-letter
//    policies are off, and checked where the broker tells them.
// 5. `sent` means what `traits.sent` says.
// 6. `reject` may return more than its stream, up to all that is unacknowledged. Whoever rejects stores nothing that it
//    was handed after the rejected one and has not stored yet.
// 7. `send` is called again only after the last call has ended.

import type { Instance } from '../coordinator/index.js';
import type { ConnectionPool } from '../database/index.js';
import type { Logger } from '../logger.js';
import type { MessageId, StreamId } from '../message.js';

/** How messages travel between services. The rules: docs/guide/transports.md. */
export interface Transport {
  readonly name: string;
  readonly traits: TransportTraits;
  /**
   * Set by the PostgreSQL transport alone. A message that only the sending service itself subscribes to then
   * goes straight to its inbox and never comes to `send`. A wrapper of that transport that has to see every
   * message leaves this out.
   */
  readonly sendsDirectly?: true;
  /** Set by the PostgreSQL transport: it completes outbox rows itself. Of several transports it then has to be the last. */
  readonly settles?: true;
  /**
   * Opens a connection. Each running service instance has one of its own. Resolves also while the broker cannot be
   * reached: the instance starts, works off its inbox, and `onState` tells when the broker is there. Rejects when a
   * retry cannot help: wrong credentials, a missing right, an option that the broker refuses.
   */
  connect(host: TransportHost): Promise<TransportConnection>;
}

/** What a transport is like, for its tests, the doctor and people. */
export interface TransportTraits {
  /** What is with one instance of a service at a time, and moves to another as a whole. */
  readonly moves: 'stream' | 'shard' | 'service';
  /** What a message that was `sent` survives: the loss of a machine, a restart of the broker, or neither. */
  readonly sent: 'replicated' | 'disk' | 'memory' | 'unknown';
  /** Whether a command to an address that nobody has subscribed to is refused. */
  readonly knowsReceivers: boolean;
  /** The size on the wire above which a message is refused, where it is known before connecting. */
  readonly maxMessageBytes?: number | undefined;
}

/** The instance that connects. Its messages come from the queue that has the name of its service. */
export interface TransportHost {
  readonly instance: Instance;
  readonly pool: ConnectionPool;
  readonly schema: string;
  readonly logger: Logger;
  /** Told when it changes whether the connection can send, and whether deliveries can arrive. */
  onState(state: TransportState): void;
  /** Told, soon after, how many events of a type were sent that no service has ever subscribed to. By a transport that can know. */
  readonly onUnheard?: (type: string, count: number) => void;
}

/** What works at this moment. A connection that has not told anything works. */
export interface TransportState {
  readonly sending: boolean;
  /** True also where nothing is subscribed. */
  readonly receiving: boolean;
  /** Why not. */
  readonly error?: unknown;
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
   * resume by themselves; those that were unacknowledged come again. Resolves also while the broker cannot be
   * reached: it subscribes when it can.
   */
  receive(subscription: Subscription, deliver: (delivery: Delivery) => void): Promise<Receiver>;
  /**
   * Resolves when the connection can send. Rejects when the signal aborts, or when the connection was closed.
   */
  ready(signal: AbortSignal): Promise<void>;
  /** What the broker tells of the queues of this service. */
  inspect?(): Promise<readonly QueueFacts[]>;
  /**
   * What at the broker may lose, refuse or hold up messages of this service, for the doctor. What `connect` refuses need not be
   * told again. It makes, changes and receives nothing.
   */
  examine?(): Promise<readonly BrokerFinding[]>;
  /**
   * Closes the connection. After this nothing is delivered, and sending fails with DISPOSED. What was
   * delivered and not acknowledged is delivered again, to any instance of the service. May be called twice.
   */
  close(): Promise<void>;
}

/** One queue of a service at the broker. Null: the broker does not tell. */
export interface QueueFacts {
  readonly name: string;
  /** How many messages wait, without those that are unacknowledged. */
  readonly depth: number | null;
  readonly unacknowledged: number | null;
  readonly consumers: number | null;
  readonly oldestSeconds: number | null;
}

/** A setting or a limit of a broker under which messages are lost, refused or held up. */
export interface BrokerFinding {
  /** A fault stops work or may lose it; a warning is worth a look. */
  readonly level: 'fault' | 'warning';
  readonly text: string;
  /** A command, or what to do. */
  readonly remedy: string;
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
  /** The service that sent it; of a foreign CloudEvent, its source. */
  readonly source: string;
  /** Its place in the sender's outbox, as a decimal number. It grows within a stream. Null: a foreign program sent it. */
  readonly sequence: string | null;
  /** The run of its sender, and as which of its messages it was handed out: `run.number`. It shows whether messages arrive in order. */
  readonly place?: string | undefined;
  /** When it was sent, as ISO 8601, by the sender's clock. Null: a foreign program did not tell. */
  readonly sentAt: string | null;
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
  /**
   * The message was not sent, through no fault of its own: an earlier one of its stream was not sent. With
   * `retryAfterSeconds`, it is the one that its stream waits for: what it needs is away, while other streams go on. It
   * is tried again after that time, and no attempt is counted.
   */
  | { readonly kind: 'held-back'; readonly retryAfterSeconds?: number; readonly error?: unknown };

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
