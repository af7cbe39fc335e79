import type { Queryable } from '../database/index.js';
import type { Sender } from '../dispatch/index.js';
import type { DecideReceipt, Decider, Decision } from '../fold/index.js';
import type { MessageId } from '../message.js';
import type { Envelope, MessageDefinition, MessageToSend } from '../messages/index.js';
import type { LimitOptions, ReceptorLimit } from './receptor-limit.js';
import type { RetryPolicy } from './retry-policy.js';

/**
 * What a handler gets besides the payload. It is a Sender: what is sent through it is sent with the completion of
 * this message, in the same transaction, or not at all; and `invoke` runs the other receptor in this transaction,
 * with what that one sends in its place among the rest.
 */
export interface ReceptorContext<Tx = Queryable, Payload = unknown> extends Sender {
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
  /** Whether the message is given up when this attempt fails. */
  readonly isLastAttempt: boolean;
  // Declared as properties, because they need no `this`: `({ orderId }, { send }) => …`.
  /** Sends a command with the completion of this message, or not at all. */
  readonly send: Sender['send'];
  /** Publishes an event, as `send` does a command. */
  readonly publish: Sender['publish'];
  /** Runs the receptor of a command here and now, in this transaction, and returns its result. */
  readonly invoke: Sender['invoke'];
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

// biome-ignore lint/suspicious/noConfusingVoidType: users declare handlers that return nothing so
type Nothing = void;

/**
 * The return type of a handler. Without a result schema (Result is void) it returns nothing, or messages, which
 * are sent. Ids are ignored: they are what `ctx.send` returned, for handlers that are one expression.
 */
export type Returned<Result> = [Result] extends [Nothing]
  ? Nothing | MessageToSend | readonly MessageToSend[] | MessageId | readonly MessageId[]
  : Result;

/** The function of a receptor. */
export type ReceptorHandler<Output, Result, Tx> = (
  payload: Output,
  context: ReceptorContext<Tx, Output>,
) => Returned<Result> | Promise<Returned<Result>>;

/**
 * The function that is called when a message is given up. The error is rebuilt from what is stored: it has the name,
 * the message and the code of the one that was thrown, and is no instance of its class.
 */
export type GivenUpHandler<Output, Tx> = (
  payload: Output,
  context: ReceptorContext<Tx, Output>,
  error: Error & { readonly code?: string | undefined },
) => Returned<void> | Promise<Returned<void>>;

/**
 * A function around receptors, such as for measuring, tracing, or setting something for the transaction. It gets the
 * message in its envelope and `ctx` of the receptor. `next` runs the receptor, once; without it the receptor
 * does not run, and the message counts as handled. What it throws is a failure of the receptor, and what it catches is
 * none. What the receptor returned is used as always, whatever this function returns.
 */
export type Around<Tx = Queryable> = (
  message: Envelope,
  context: ReceptorContext<Tx | undefined>,
  next: () => Promise<unknown>,
) => unknown;

/** Options of `receptor`. */
export interface ReceptorOptions<Transaction extends boolean = boolean, Output = unknown, Tx = Queryable>
  extends LimitOptions<Output> {
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
  /** Runs around the handler, inside of what runs around all receptors of the service. Default: nothing. */
  readonly around?: Around<Tx> | undefined;
  /** The time limit. After it, the signal is aborted and the attempt counts as failed. Default: none. */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Called when the message is given up, exactly once, in the transaction that writes the dead letter: `ctx.tx`. What
   * it returns or sends is sent. When it throws, the message stays, and it is called again later. Default: none.
   */
  readonly onGivenUp?: GivenUpHandler<Output, Tx> | undefined;
}

/** A handler for one kind of message, made by `receptor`. */
export interface Receptor<in Tx = Queryable> {
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
  /** How many messages it handles at once. Undefined: one, whose payload it gets. */
  readonly batch?: { readonly size: number; readonly waitMs: number } | undefined;
  /** The validated limits of this receptor, if it has any. */
  readonly limit: ReceptorLimit | undefined;
  handle(payload: unknown, context: ReceptorContext<Tx | undefined>): unknown;
  /** Absent: nothing is called when its message is given up. */
  onGivenUp?(payload: unknown, context: ReceptorContext<Tx>, error: Error): unknown;
}
