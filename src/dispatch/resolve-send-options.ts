// Checks the options of send, publish, append, invoke and request.
// In: what was given. Out: what the dispatcher needs, or INVALID_OPTION. Called by the dispatcher and the event store.
import { copyAsJson, isName, longestName, parseTraceparent } from '../messages/index.js';
import { invalidOption, requestOptions, resolveOptions, sendOptions } from '../options.js';
import { isGivenUuid } from '../uuid.js';
import type { EnvelopeOptions } from './outgoing.js';
import type { PublishOptions, SendOptions, UniqueOptions } from './send-options.js';

export type Method = 'send' | 'publish' | 'append' | 'invoke' | 'request';

const contextKeys = ['correlationId', 'causationId', 'scope', 'traceparent', 'messageId', 'tx'];
const keysOf: Record<Method, readonly string[]> = {
  send: [...contextKeys, 'at', 'holdStream', 'stream', 'to', 'uniqueKey'],
  publish: [...contextKeys, 'at', 'holdStream', 'stream', 'uniqueKey'],
  append: contextKeys.filter((key) => key !== 'messageId'),
  invoke: [...contextKeys, 'signal'],
  request: [...contextKeys.filter((key) => key !== 'messageId' && key !== 'tx'), 'stream', 'to'],
};

export interface ResolvedSendOptions {
  readonly envelope: EnvelopeOptions;
  readonly tx: unknown;
  readonly to: string | undefined;
  readonly scheduledFor: Date | undefined;
  readonly delaySeconds: number | undefined;
  readonly holdStream: boolean;
  readonly expectedVersion: number | undefined;
  /** Undefined: 0, as for most. */
  readonly priority: number | undefined;
  readonly unique: UniqueOptions | undefined;
  /** Of a request. */
  readonly timeoutSeconds: number;
}

/** The options of the three methods together. The type of each method has those that it takes. */
type GivenSendOptions = SendOptions & PublishOptions & Partial<UniqueOptions>;

export function resolveSendOptions(
  method: Method,
  given: GivenSendOptions,
  count: number,
): ResolvedSendOptions {
  const { delaySeconds, expectedVersion, uniqueSeconds, priority, timeoutSeconds } = resolveOptions(
    method,
    numbersOf[method],
    { ...given },
    keysOf[method],
  ) as {
    readonly delaySeconds?: number;
    readonly expectedVersion?: number;
    readonly uniqueSeconds?: number;
    readonly priority?: number;
    readonly timeoutSeconds?: number;
  };
  const {
    to,
    at,
    tx,
    holdStream = false,
    stream,
    uniqueKey,
    messageId,
    correlationId,
    causationId,
    scope,
    traceparent,
  } = given;
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
    stream !== undefined && stream !== null,
    'stream',
    'is neither null nor left out',
    'Null: no stream. Which stream a message has otherwise is a matter of its definition.',
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
  refuse(typeof holdStream !== 'boolean', 'holdStream', 'is not true or false', 'Give true or false.');
  refuse(
    expectedVersion !== undefined && (at !== undefined || !!delaySeconds) && !holdStream,
    'expectedVersion',
    'and a delay are both given, and nobody could be told when the time has come that the version is another',
    'Give one of them, or give holdStream: true to append the event now and have it handled later.',
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
  refuse(
    uniqueKey !== undefined && !isName(uniqueKey),
    'uniqueKey',
    `is not a text, is empty, or is longer than ${longestName} bytes`,
    'Give a text that names what must not be sent twice, for example a hash.',
  );
  refuse(
    (uniqueKey === undefined) !== (uniqueSeconds === undefined),
    uniqueKey === undefined ? 'uniqueSeconds' : 'uniqueKey',
    'is given alone',
    'Give uniqueKey and uniqueSeconds.',
  );
  refuse(
    uniqueKey !== undefined && count !== 1,
    'uniqueKey',
    `is given for ${count} messages`,
    'Send the messages one by one, each with its own key.',
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
    envelope: {
      messageId,
      stream,
      correlationId,
      causationId,
      scope: resolveScope(method, scope),
      traceparent,
    },
    tx,
    to,
    scheduledFor: at,
    delaySeconds: delaySeconds || undefined,
    holdStream,
    expectedVersion,
    priority: priority || undefined,
    timeoutSeconds: timeoutSeconds ?? 0,
    unique: uniqueKey === undefined || uniqueSeconds === undefined ? undefined : { uniqueKey, uniqueSeconds },
  };
}

const { delaySeconds, expectedVersion, uniqueSeconds, priority } = sendOptions;
const numbersOf = {
  send: { delaySeconds, uniqueSeconds, priority },
  publish: { delaySeconds, expectedVersion, uniqueSeconds, priority },
  append: { expectedVersion },
  invoke: {},
  request: { ...requestOptions, priority },
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
