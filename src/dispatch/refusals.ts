import { WhizbangError } from '../errors.js';
import type { MessageDefinition } from '../messages/index.js';
import { invalidOption } from '../options.js';

export function notAMessage(value: unknown): WhizbangError {
  return new WhizbangError('INVALID_MESSAGE', {
    message: `A message is needed, but ${kindOf(value)} was given.`,
    hint: 'Make messages by calling their definition: OrderPlaced({ orderId, total }).',
    details: { issues: [{ path: '', message: 'is not a message' }] },
  });
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function' && 'type' in value) return `the definition ${String(value.type)}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const methods = { command: ['send', 'a command'], event: ['publish', 'an event'] } as const;

export function wrongKind({ type, kind }: MessageDefinition, method: string): WhizbangError {
  const [right, name] = methods[kind];
  return new WhizbangError('INVALID_MESSAGE', {
    message: `${type} is ${name}, and cannot be given to ${method}.`,
    hint: `Use ${right}.`,
    details: { type, issues: [{ path: '', message: `is ${name}` }] },
  });
}

export function noDestination({ type }: MessageDefinition): WhizbangError {
  return new WhizbangError('NO_DESTINATION', {
    message: `The command ${type} names no receiver, and this service has no receptor for it.`,
    details: { type },
  });
}

/** A receptor that waits for an answer holds its place, its lease and its transaction until it comes. */
export function requestInReceptor(): WhizbangError {
  return invalidOption(
    'request',
    'command',
    'it is called inside a receptor',
    'Let the receptor send the command and end; let the other service publish what it has done, and handle that event. ' +
      'A receptor that waits keeps its transaction and its place, and is run again after a crash. Nothing was sent.',
  );
}

export function noReceptor({ type }: { readonly type: string }): WhizbangError {
  return new WhizbangError('NO_RECEPTOR', {
    message: `There is no receptor for ${type} in this process.`,
    details: { type },
  });
}

/** Adds to an error which of many messages was refused. Nothing was sent then. */
export function inCall(error: unknown, index: number): unknown {
  if (!(error instanceof WhizbangError)) return error;
  const { code, message, hint, details, cause } = error;
  return new WhizbangError(code, {
    message: `Message ${index}: ${message}`,
    hint,
    details: { ...details, index },
    cause: cause ?? error,
  });
}

/** Nothing may be stored that should have been sealed. */
export function noSealer({ type }: MessageDefinition): WhizbangError {
  return new WhizbangError('INVALID_MESSAGE', {
    message: `${type} has sealed fields, and there is no event store that has their keys.`,
    hint: 'Publish or append it with an instance of createWhizbang.',
    details: { type, issues: [] },
  });
}
