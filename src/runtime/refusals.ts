// What an instance answers when it is asked for something that it cannot do in its state.
import { WhizbangError } from '../errors.js';

/** `failure`: why it could not start, if it could not. */
export function isStopped(service: string, what: string, failure: unknown): WhizbangError {
  const why = failure === undefined ? 'it is stopped' : 'it was stopped because its start failed';
  return new WhizbangError('DISPOSED', {
    message: `${service} cannot ${what}: ${why}.`,
    hint: 'An instance can be started only once, even if its start fails. Create a new one with createWhizbang.',
    cause: failure,
  });
}

export function notStarted(service: string, what: string): WhizbangError {
  return new WhizbangError('NOT_STARTED', { message: `${service} cannot ${what}: it is not started.` });
}

export function alreadyStarted(service: string, what: string): WhizbangError {
  return new WhizbangError('ALREADY_STARTED', {
    message: `${service} cannot ${what}: it is already started.`,
    ...(what === 'start'
      ? {}
      : { hint: 'Add all receptors before start(): it subscribes to their messages.' }),
  });
}

/** Names the database instead of the transport: where it is the transport too, it cannot be reached. */
export function withoutTransport(error: unknown): unknown {
  const isOfTransport = error instanceof WhizbangError && error.code === 'TRANSPORT_UNAVAILABLE';
  return isOfTransport && error.cause instanceof WhizbangError ? error.cause : error;
}
