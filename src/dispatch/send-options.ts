// What can be said with a message: the options of send, publish, append and invoke.
import type { MessageId } from '../message.js';
import type { Scope } from '../register.js';

/** Options that are inherited from the message that is being handled, unless they are set here. */
export interface ContextOptions {
  /** The id of the conversation. Default: the parent's, or else the message's own id. */
  readonly correlationId?: string | undefined;
  /** The message that caused it. Default: the one that is being handled, or null. */
  readonly causationId?: string | null | undefined;
  /** The owner of the message, as JSON: a tenant, a user. Null: no owner. Default: the parent's. */
  // oxlint-disable-next-line typescript/no-redundant-type-constituents -- unknown until a program declares it
  readonly scope?: Scope | undefined;
  /** W3C trace context, passed on as it is. Default: the active span, else the parent's trace. */
  readonly traceparent?: string | undefined;
}

interface ManyOptions extends ContextOptions {
  /**
   * Your own transaction: the messages are sent if and only if it
   * commits. To send outside of one, leave it out: undefined is refused.
   */
  readonly tx?: object;
  /** Sends the message so many seconds from now. It takes its place in its stream then, and holds up nobody before. */
  readonly delaySeconds?: number | undefined;
  /** Sends the message at this time. It takes its place in its stream then, and holds up nobody before. */
  readonly at?: Date | undefined;
  /**
   * True: a message with a delay has its place in its stream at once, and what follows in the stream waits too.
   * Default: false.
   */
  readonly holdStream?: boolean | undefined;
  /**
   * A whole number: of the streams that nobody works on, those whose first message has a higher one are taken first. The
   * order of a stream stays. Default: 0.
   */
  readonly priority?: number | undefined;
  /** Null: it has no stream, whatever its definition says. It waits for nothing, and nothing waits for it. */
  readonly stream?: null | undefined;
}

/** Options for one message that is sent at most once under a key within a time. */
export interface UniqueOptions {
  /** A second message with this key within `uniqueSeconds` is not sent: the answer has the id of the first. */
  readonly uniqueKey: string;
  readonly uniqueSeconds: number;
}

interface OneOptions {
  /**
   * A UUID of your own. A second message with the same UUID is ignored
   * while the first is unfinished, and is never handled again.
   */
  readonly messageId?: MessageId | undefined;
}

/** Options of `send`, for several commands. */
export interface SendManyOptions extends ManyOptions {
  /** The service that handles it, instead of the definition's. */
  readonly to?: string | undefined;
}
/** Options of `send`, for one command. */
export interface SendOptions extends SendManyOptions, OneOptions {}

/** Options of `publish`, for several events. */
export interface PublishManyOptions extends ManyOptions {
  /** The version of the stream before the first of these events, 0 for a new stream. They must be of one stream. */
  readonly expectedVersion?: number | undefined;
}
/** Options of `publish`, for one event. */
export interface PublishOptions extends PublishManyOptions, OneOptions {}

/** Options of `events.append`. */
export interface AppendOptions extends ContextOptions {
  /** The version of the stream before the first of these events, 0 for a new stream. They must be of one stream. */
  readonly expectedVersion?: number | undefined;
  /**
   * Your own transaction: the events are in the store if and only if it
   * commits. To append outside of one, leave it out: undefined is refused.
   */
  readonly tx?: object;
}

/** Options of `request`. */
export interface RequestOptions extends ContextOptions {
  /** How long to wait for the answer. After it the command may still run. Default: 30. */
  readonly timeoutSeconds?: number | undefined;
  /** The service that handles it, instead of the definition's. */
  readonly to?: string | undefined;
  /** Of the streams that are free, those whose first message has a higher one are taken first. Default: 0. */
  readonly priority?: number | undefined;
  /** Null: it has no stream, whatever its definition says. It waits for nothing, and nothing waits for it. */
  readonly stream?: null | undefined;
}

/** Options of `invoke`. */
export interface InvokeOptions extends ContextOptions, OneOptions {
  /**
   * Your own transaction, in which the receptor then runs. Leave it
   * out to have one begun for the receptor: undefined is refused.
   */
  readonly tx?: object;
  /** Becomes `ctx.signal` of the receptor. */
  readonly signal?: AbortSignal | undefined;
}
