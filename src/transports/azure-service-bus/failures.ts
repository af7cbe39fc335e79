import { WhizbangError } from '../../errors.js';

/** What the client told of a failure. Codes are those of `ServiceBusError` and of the administration's `RestError`. */
interface Failure {
  readonly code?: string;
  readonly statusCode?: number;
  readonly message?: string;
}

const failureOf = (error: unknown): Failure => (typeof error === 'object' && error !== null ? error : {});

/** Whether the entity does not exist. */
export const isMissing = (error: unknown): boolean =>
  failureOf(error).code === 'MessagingEntityNotFound' || failureOf(error).statusCode === 404;

/** Whether it exists already, because another instance made it at the same time. */
export const isThereAlready = (error: unknown): boolean =>
  failureOf(error).code === 'MessagingEntityAlreadyExists' || failureOf(error).statusCode === 409;

/** Whether the key or identity may not do this. */
export const isDenied = (error: unknown): boolean =>
  failureOf(error).code === 'UnauthorizedAccess' || [401, 403].includes(failureOf(error).statusCode ?? 0);

/** Whether no session became available in the time given. */
export const isWithoutSession = (error: unknown): boolean =>
  ['ServiceTimeout', 'SessionCannotBeLocked'].includes(failureOf(error).code ?? '');

/** Whether the message is larger than the topic takes. */
export const isTooLarge = (error: unknown): boolean => failureOf(error).code === 'MessageSizeExceeded';

/**
 * Whether the subscription has no sessions. The client gives `amqp:not-allowed` no code of its own and puts this name
 * before the text instead.
 */
export const isWithoutSessions = (error: unknown): boolean =>
  failureOf(error).message?.startsWith('InvalidOperationError') ?? false;

const answers = new Set([
  'MessagingEntityNotFound',
  'MessagingEntityAlreadyExists',
  'MessagingEntityDisabled',
  'MessageSizeExceeded',
  'QuotaExceeded',
  'ServiceBusy',
  'SessionCannotBeLocked',
  'UnauthorizedAccess',
]);

/** Whether the broker itself refused: then the connection works. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof WhizbangError || answers.has(failureOf(error).code ?? '') || isWithoutSessions(error);

/** Whether this is a fault of a program, the client or ours, and no outage. */
export const isUnexpected = (error: unknown): boolean =>
  [TypeError, RangeError, ReferenceError].some((fault) => error instanceof fault);

/** Whether waiting cannot help. */
export const isFinal = (error: unknown): boolean =>
  error instanceof WhizbangError && error.code !== 'TRANSPORT_UNAVAILABLE';

/** The failure as an outage, unless it is an error of ours already. */
export function asOutage(error: unknown): WhizbangError {
  if (error instanceof WhizbangError && error.code === 'TRANSPORT_UNAVAILABLE') return error;
  if (error instanceof WhizbangError)
    return new WhizbangError('TRANSPORT_UNAVAILABLE', {
      message: error.message,
      hint: error.hint,
      cause: error,
    });
  const { code, message } = failureOf(error);
  if (code === 'QuotaExceeded')
    return new WhizbangError('TRANSPORT_UNAVAILABLE', {
      message: 'The topic at Azure Service Bus is full.',
      hint: 'A subscription is not read, or not fast enough. Messages stay in the outbox until there is room. Delete subscriptions that nobody reads, or raise --max-size of the topic.',
      cause: error,
    });
  return new WhizbangError('TRANSPORT_UNAVAILABLE', {
    message: `Azure Service Bus cannot be reached: ${message ?? String(error)}`,
    cause: error,
  });
}

/** The key or identity lacks a right. */
export function denied(what: string, needs: string, hint: string, cause: unknown): WhizbangError {
  return new WhizbangError('PERMISSION_DENIED', {
    message: `Azure Service Bus refuses ${what}: the key is wrong, or ${needs} is missing.`,
    hint,
    cause,
  });
}
