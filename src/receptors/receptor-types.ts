import type { Queryable } from '../database/index.js';
import type { Envelope, MessageDefinition, MessageToSend } from '../messages/index.js';
import type { RetryPolicy } from './retry-policy.js';

/** What a handler may do besides its own work. */
export interface ReceptorContext<Tx = Queryable, Payload = unknown> {
  /**
   * The transaction in which this message is completed. What is written in it takes effect exactly once; it is
   * rolled back when the lease was lost. Without a transaction (`transaction: false`) there is none.
   */
  readonly tx: Tx;
  /** Aborted when the lease is lost, the time is up, or the instance stops and cannot wait any longer. */
  readonly signal: AbortSignal;
  /** Ids, correlation, scope, trace. */
  readonly envelope: Envelope<Payload>;
  /** 1 at first; one more after every reported failure. */
  readonly attempt: number;
  /** Sent with the completion of this message, in one transaction, or not at all. */
  readonly send: (
    message: MessageToSend<'command'> | readonly MessageToSend<'command'>[],
    options?: ContextSendOptions,
  ) => Promise<void>;
  /** As `send`, for events. */
  readonly publish: (
    message: MessageToSend<'event'> | readonly MessageToSend<'event'>[],
    options?: ContextPublishOptions,
  ) => Promise<void>;
  /**
   * Runs the receptor of a command here and now, in this transaction, and answers what it returned. What it sends is sent
   * with the completion of this message, in the order in which both have sent.
   */
  readonly invoke: <Result>(command: MessageToSend<'command', Result>) => Promise<Result>;
}

/** Of `ctx.send`. The rest follows from the handled message. */
export interface ContextSendOptions {
  /** The service that shall handle it, instead of the definition's. */
  readonly to?: string | undefined;
  /** Not before so many seconds from now. */
  readonly delaySeconds?: number | undefined;
  /** Not before this time. */
  readonly at?: Date | undefined;
}

/** Of `ctx.publish`. The rest follows from the handled message. */
export interface ContextPublishOptions extends Omit<ContextSendOptions, 'to'> {
  /** The version of the stream before the first of these events. */
  readonly expectedVersion?: number | undefined;
}

// biome-ignore lint/suspicious/noConfusingVoidType: users declare handlers that return nothing so
type Nothing = void;

/** Without a result schema (Result is void) a handler returns nothing, or messages, which are sent on. */
export type Returned<Result> = [Result] extends [Nothing]
  ? Nothing | MessageToSend | readonly MessageToSend[]
  : Result;

/** The function of a receptor. */
export type ReceptorHandler<Output, Result, Tx> = (
  payload: Output,
  context: ReceptorContext<Tx, Output>,
) => Returned<Result> | Promise<Returned<Result>>;

/** Of `receptor`. */
export interface ReceptorOptions<Transaction extends boolean = boolean> {
  /** Needed when one service has several receptors for one event. Default: the type of its message. */
  readonly name?: string | undefined;
  /**
   * False: it runs without a transaction and at least once, so a crash at the wrong moment repeats its effects. For
   * handlers whose effects are elsewhere, or take long. Default: true.
   */
  readonly transaction?: Transaction | undefined;
  /**
   * True: its transaction is never shared. Where many messages wait, several are otherwise handled in one, one after the other.
   * For handlers that set something for the transaction, keep locks that others wait for, or are slow at times. Default: false.
   */
  readonly alone?: boolean | undefined;
  /** Where it differs from that of the service. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** After this its signal is aborted and it counts as failed. Default: none. */
  readonly timeoutSeconds?: number | undefined;
}

/** A handler for one kind of message, made by `receptor`. */
export interface Receptor<Tx = Queryable> {
  readonly name: string;
  readonly definition: MessageDefinition;
  /** False: it runs without a transaction, at least once. */
  readonly transactional: boolean;
  /** True: it shares its transaction with no other message. */
  readonly alone: boolean;
  /** What was set here, checked. The rest is the service's: see `resolveRetryPolicy`. */
  readonly retry: Partial<RetryPolicy>;
  readonly timeoutSeconds: number | undefined;
  handle(payload: unknown, context: ReceptorContext<Tx | undefined>): unknown;
}
