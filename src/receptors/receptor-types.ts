import type { Queryable } from '../database/index.js';
import type { DecideReceipt, Decider, Decision } from '../fold/index.js';
import type { Envelope, MessageDefinition, MessageToSend } from '../messages/index.js';
import type { RetryPolicy } from './retry-policy.js';

/** What a handler gets besides the payload. */
export interface ReceptorContext<Tx = Queryable, Payload = unknown> {
  /**
   * The transaction in which this message is completed. What is written in it takes effect exactly once; it
   * is rolled back when the lease was lost. Not available with `transaction: false`.
   */
  readonly tx: Tx;
  /**
   * A signal that aborts when the lease is lost, the time is up, or the instance stops and cannot wait any
   * longer.
   */
  readonly signal: AbortSignal;
  /** The envelope of the message: ids, correlation, scope, trace. */
  readonly envelope: Envelope<Payload>;
  /** The number of this attempt: 1 at first, one more after every reported failure of this receptor. */
  readonly attempt: number;
  /** Sends a command in the transaction that completes this message, or not at all. */
  readonly send: (
    message: MessageToSend<'command'> | readonly MessageToSend<'command'>[],
    options?: ContextSendOptions,
  ) => Promise<void>;
  /** Publishes an event, as `send` does a command. */
  readonly publish: (
    message: MessageToSend<'event'> | readonly MessageToSend<'event'>[],
    options?: ContextPublishOptions,
  ) => Promise<void>;
  /**
   * Runs the receptor of a command immediately, in this transaction, and returns its result. The messages
   * that it sends are sent with the completion of this message, in the order in which both handlers sent
   * them.
   */
  readonly invoke: <Result>(command: MessageToSend<'command', Result>) => Promise<Result>;
  /**
   * Decides on the state of a stream, and appends what was decided in this transaction. The stream is locked
   * first: the state stays as it is until the transaction ends.
   */
  readonly decide: <State>(
    decider: Decider<State>,
    id: string,
    decision: (state: State, version: number) => Decision | Promise<Decision>,
  ) => Promise<DecideReceipt>;
}

/** Options of `ctx.send`. The rest follows from the handled message. */
export interface ContextSendOptions {
  /** The service that handles it, instead of the one in the definition. */
  readonly to?: string | undefined;
  /** The number of seconds from now before which it is not handled. */
  readonly delaySeconds?: number | undefined;
  /** The time before which it is not handled. */
  readonly at?: Date | undefined;
}

/** Options of `ctx.publish`. The rest follows from the handled message. */
export interface ContextPublishOptions extends Omit<ContextSendOptions, 'to'> {
  /** The version of the stream before the first of these events. */
  readonly expectedVersion?: number | undefined;
}

// biome-ignore lint/suspicious/noConfusingVoidType: users declare handlers that return nothing so
type Nothing = void;

/**
 * The return type of a handler. Without a result schema (Result is void) it returns nothing, or messages,
 * which are sent.
 */
export type Returned<Result> = [Result] extends [Nothing]
  ? Nothing | MessageToSend | readonly MessageToSend[]
  : Result;

/** The function of a receptor. */
export type ReceptorHandler<Output, Result, Tx> = (
  payload: Output,
  context: ReceptorContext<Tx, Output>,
) => Returned<Result> | Promise<Returned<Result>>;

/** Options of `receptor`. */
export interface ReceptorOptions<Transaction extends boolean = boolean> {
  /**
   * The name of the receptor. Needed when one service has several receptors for one event. Default: the type
   * of its message.
   */
  readonly name?: string | undefined;
  /**
   * Whether it runs in a transaction. False: it runs at least once, so a crash at the wrong moment repeats
   * its effects. Use false for handlers whose effects are elsewhere, or take long. Default: true.
   */
  readonly transaction?: Transaction | undefined;
  /**
   * True: its transaction is never shared. Otherwise, when many messages wait, several are handled in one
   * transaction, one after the other. Use true for handlers that set something for the transaction, keep
   * locks that others wait for, or are sometimes slow. Default: false.
   */
  readonly alone?: boolean | undefined;
  /** Retry settings that differ from those of the service. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** The time limit. After it, the signal is aborted and the attempt counts as failed. Default: none. */
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
  /**
   * The validated retry settings of this receptor. The rest comes from the service: see `resolveRetryPolicy`.
   */
  readonly retry: Partial<RetryPolicy>;
  readonly timeoutSeconds: number | undefined;
  handle(payload: unknown, context: ReceptorContext<Tx | undefined>): unknown;
}
