import type { MessageId } from '../message.js';
import { copyAsJson, isName, parseTraceparent } from '../messages/index.js';
import { invalidOption, resolveOptions, sendOptions } from '../options.js';
import { isGivenUuid } from '../uuid.js';
import type { EnvelopeOptions } from './outgoing.js';

/** Options that are inherited from the message that is being handled, unless they are set here. */
export interface ContextOptions {
  /** The id of the conversation. Default: the parent's, or else the message's own id. */
  readonly correlationId?: string | undefined;
  /** The message that caused it. Default: the one that is being handled, or null. */
  readonly causationId?: string | null | undefined;
  /** The owner of the message, as JSON: a tenant, a user. Null: no owner. Default: the parent's. */
  readonly scope?: unknown;
  /** W3C trace context, passed on as it is. Default: the active span, else the parent's trace. */
  readonly traceparent?: string | undefined;
}

interface ManyOptions extends ContextOptions {
  /**
   * Your own transaction: the messages are sent if and only if it
   * commits. To send outside of one, leave it out: undefined is refused.
   */
  readonly tx?: object;
  /** Delays the message by so many seconds from now. What follows in the stream waits too. */
  readonly delaySeconds?: number | undefined;
  /** Delays the message until this time. What follows in the stream waits too. */
  readonly at?: Date | undefined;
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

export type Method = 'send' | 'publish' | 'append' | 'invoke';

const contextKeys = ['correlationId', 'causationId', 'scope', 'traceparent', 'messageId', 'tx'];
const keysOf: Record<Method, readonly string[]> = {
  send: [...contextKeys, 'at', 'to'],
  publish: [...contextKeys, 'at'],
  append: contextKeys.filter((key) => key !== 'messageId'),
  invoke: [...contextKeys, 'signal'],
};

export interface ResolvedSendOptions {
  readonly envelope: EnvelopeOptions;
  readonly tx: unknown;
  readonly to: string | undefined;
  readonly scheduledFor: Date | undefined;
  readonly delaySeconds: number | undefined;
  readonly expectedVersion: number | undefined;
}

/** The options of the three methods together. The type of each method has those that it takes. */
type GivenSendOptions = SendOptions & PublishOptions;

export function resolveSendOptions(
  method: Method,
  given: GivenSendOptions,
  count: number,
): ResolvedSendOptions {
  const { delaySeconds, expectedVersion } = resolveOptions(
    method,
    numbersOf[method],
    { ...given },
    keysOf[method],
  ) as {
    readonly delaySeconds?: number;
    readonly expectedVersion?: number;
  };
  const { to, at, tx, messageId, correlationId, causationId, scope, traceparent } = given;
  const refuse = (wrong: boolean, option: string, fact: string, hint: string) => {
    if (wrong) throw invalidOption(method, option, `${option} ${fact}`, hint);
  };
  // A caller that writes `tx` wants the transaction: without
  // it the message would be sent even after a rollback.
  refuse(
    'tx' in given && (tx === undefined || tx === null),
    'tx',
    `is ${String(tx)}`,
    `Pass the transaction, or leave tx out to ${method} outside of one. Nothing was done.`,
  );
  refuse(
    to !== undefined && !isName(to),
    'to',
    'is not the name of a service',
    'Give a text that is not empty.',
  );
  refuse(
    at !== undefined && !isTime(at),
    'at',
    'is not a valid Date',
    'Give a Date between the years 1 and 9999.',
  );
  refuse(
    at !== undefined && delaySeconds !== undefined,
    'at',
    'and delaySeconds are both given',
    'Give one of them.',
  );
  refuse(
    messageId !== undefined && count > 1,
    'messageId',
    `is given for ${count} messages`,
    'Send the messages one by one, each with its own id.',
  );
  refuse(
    messageId !== undefined && !isGivenUuid(messageId),
    'messageId',
    'is not a UUID',
    'Make one with newMessageId().',
  );
  const isId = (id: unknown) => id === undefined || (isName(id) && copyAsJson(id).fault === undefined);
  refuse(!isId(correlationId), 'correlationId', 'is not a text, or is empty', 'Give an id, or leave it out.');
  refuse(
    causationId !== null && !isId(causationId),
    'causationId',
    'is not a text, or is empty',
    'Give an id or null.',
  );
  const isTrace = traceparent === undefined || parseTraceparent(traceparent) !== undefined;
  refuse(
    !isTrace,
    'traceparent',
    'is not valid',
    'See https://www.w3.org/TR/trace-context/#traceparent-header.',
  );
  return {
    envelope: { messageId, correlationId, causationId, scope: resolveScope(method, scope), traceparent },
    tx,
    to,
    scheduledFor: at,
    delaySeconds: delaySeconds || undefined,
    expectedVersion,
  };
}

const { delaySeconds, expectedVersion } = sendOptions;
const numbersOf = {
  send: { delaySeconds },
  publish: { delaySeconds, expectedVersion },
  append: { expectedVersion },
  invoke: {},
};

function resolveScope(method: Method, scope: unknown): unknown {
  if (scope === undefined) return undefined;
  const copy = copyAsJson(scope);
  if (copy.fault === undefined) return copy.json;
  const { path, message } = copy.fault;
  const option = path === '' ? 'scope' : `scope.${path}`;
  throw invalidOption(method, option, `${option} ${message}`, 'Give a value that JSON can hold.');
}

/**
 * Whether PostgreSQL can read the time. Other years are written in a
 * form that it cannot read, which would abort the caller's transaction.
 */
function isTime(value: unknown): boolean {
  return value instanceof Date && value.getUTCFullYear() >= 1 && value.getUTCFullYear() <= 9999;
}
