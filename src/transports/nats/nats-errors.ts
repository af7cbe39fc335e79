import { WhizbangError } from '../../errors.js';
import { isTlsError } from '../wire/tls-error.js';

/** The client of NATS, which is loaded when it is needed. */
export type Core = typeof import('@nats-io/transport-node');

/** Codes of JetStream's API errors that this room tells apart. */
export const apiCodes = {
  insufficientResources: 10023,
  storageExceeded: 10047,
  notEnabledForAccount: 10039,
  messageTooLarge: 10054,
  wrongLastSequence: 10071,
  noReplicas: 10074,
  noSuitablePeers: 10005,
  streamNotFound: 10059,
  nameInUse: 10058,
  subjectsOverlap: 10065,
  headerTooLarge: 10097,
} as const;

/** The number of a JetStream API error. */
export function apiCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('apiError' in error)) return undefined;
  const { code } = error as Error & { code?: unknown };
  return typeof code === 'number' ? code : undefined;
}

export function unavailable(message: string, cause?: unknown): WhizbangError {
  return new WhizbangError('TRANSPORT_UNAVAILABLE', { message, cause });
}

export function refusedBy(
  option: string,
  message: string,
  hint: string,
  facts: { readonly cause?: unknown; readonly details?: object } = {},
): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message,
    hint,
    details: { option, ...facts.details },
    ...(facts.cause !== undefined && { cause: facts.cause }),
  });
}

/** Why no connection could be opened: wrong credentials are for people, anything else may pass by itself. */
export function connectFailed({ errors }: Core, error: unknown): WhizbangError {
  const isDenied = (each: unknown) =>
    each instanceof errors.AuthorizationError || each instanceof errors.UserAuthenticationExpiredError;
  if (isDenied(error) || (error instanceof Error && isDenied(error.cause))) {
    return refusedBy(
      'credentials',
      'NATS refused the credentials of natsTransport.',
      'Correct user and password, token, NKey or .creds file in the option credentials or in the address, or the users in the configuration of nats-server.',
      { cause: error },
    );
  }
  if (error instanceof errors.InvalidArgumentError) {
    return refusedBy(
      'servers',
      'The client of NATS refused the options of natsTransport.',
      'Correct the options servers, credentials and tls.',
      { cause: error },
    );
  }
  if (isTlsError(error)) {
    return refusedBy(
      'tls',
      `The TLS connection to NATS failed: ${messageOf(error)}.`,
      'Check the option tls: ca or caFile for a certificate of your own authority, cert and key where the server wants them, handshakeFirst if it is set there; and that the host in servers is in the certificate of the server.',
      { cause: error },
    );
  }
  return unavailable('NATS cannot be reached.', error);
}

/** The connection over which JetStream was asked. */
interface Asked {
  readonly core: Core;
  readonly nc: { readonly info?: { readonly jetstream?: boolean } | undefined };
}

/** Why a question to JetStream failed, in words that name what to correct. `stream` is its name. */
export function jetStreamFailed({ core, nc }: Asked, stream: string, error: unknown): WhizbangError {
  const { errors } = core;
  if (error instanceof WhizbangError) return error;
  const denied = [error, (error as Error | undefined)?.cause].find(
    (each) => each instanceof errors.PermissionViolationError,
  ) as InstanceType<Core['errors']['PermissionViolationError']> | undefined;
  if (denied !== undefined) {
    const { operation, subject } = denied;
    return refusedBy(
      'credentials',
      `The user of natsTransport may not ${operation === 'publish' ? 'publish to' : 'subscribe to'} ${subject}.`,
      `Add ${JSON.stringify(subject)} to permissions.${operation === 'publish' ? 'publish' : 'subscribe'} of this user: see docs/transports/nats.md#least-privilege.`,
      { cause: error, details: { operation, subject } },
    );
  }
  const code = apiCodeOf(error);
  const isUnanswered = (error as Error | undefined)?.name === 'JetStreamNotEnabled';
  // A server says when it connects whether it has JetStream.
  if (isUnanswered && nc.info?.jetstream === true)
    return unavailable('JetStream does not answer: it is starting, or has no leader at the moment.', error);
  if (code === apiCodes.notEnabledForAccount || isUnanswered) {
    return refusedBy(
      'servers',
      'JetStream is not enabled on this NATS server, or not for this account.',
      'Start the server with `nats-server --jetstream`, or write `jetstream {}` into its configuration; with accounts, `jetstream: enabled` in this one.',
      { cause: error },
    );
  }
  if (code === apiCodes.streamNotFound) {
    return refusedBy(
      'topology',
      `There is no stream ${stream} at NATS.`,
      "Use topology: 'declare' once, or make it by the command in docs/transports/nats.md#the-stream.",
      { cause: error },
    );
  }
  if (code === apiCodes.noReplicas || code === apiCodes.noSuitablePeers) {
    return refusedBy(
      'replicas',
      `NATS cannot keep the stream ${stream} on so many servers: ${(error as Error).message}.`,
      'Lower the option replicas to the number of servers with JetStream in the cluster, or add servers.',
      { cause: error },
    );
  }
  if (code === apiCodes.subjectsOverlap) {
    return refusedBy(
      'prefix',
      `Another stream at NATS has subjects that begin with ${stream}.`,
      'Give the option prefix another value, or take these subjects from the other stream: `nats stream ls`.',
      { cause: error },
    );
  }
  return unavailable(`JetStream did not do what it was asked: ${messageOf(error)}`, error);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
