// What the broker refuses, in words that name the setting and the command. In: errors of amqplib. Out: WhizbangErrors:
// TRANSPORT_UNAVAILABLE where trying again helps, PERMISSION_DENIED and INVALID_OPTION where somebody has to do something.
import { WhizbangError } from '../../errors.js';
import { isTlsError } from '../wire/tls-error.js';
import { exchangesOf, queueOf } from './names.js';
import type { RabbitmqSettings } from './settings.js';

/** Reply codes of AMQP 0-9-1. */
export const reply = { accessRefused: 403, notFound: 404, preconditionFailed: 406 } as const;

export const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export function unavailable(message: string, cause?: unknown): WhizbangError {
  return new WhizbangError('TRANSPORT_UNAVAILABLE', { message, ...(cause !== undefined && { cause }) });
}

/** True: trying again does not help until somebody has done something. */
export const isRefusal = (error: unknown): boolean => error instanceof WhizbangError && !error.retryable;

interface Place {
  readonly settings: RabbitmqSettings;
  readonly service: string;
  /** Of the last connection. */
  readonly username: string;
}

/** The URL without user and password. */
export const placeOf = (url: URL): string =>
  `${url.protocol}//${url.host}${url.pathname.replace(/^\/$/, '')}`;

const vhostOf = (url: URL): string => {
  const path = url.pathname.slice(1);
  return path === '' ? '/' : decodeURIComponent(path);
};

/** Why a connection could not be opened. */
export function openingError(error: unknown, url: URL, username: string): WhizbangError {
  const text = textOf(error);
  const where = placeOf(url);
  const vhost = vhostOf(url);
  // amqplib tells these two apart by nothing but their texts.
  if (text.startsWith('Handshake terminated by server: 403')) {
    return new WhizbangError('PERMISSION_DENIED', {
      message: `RabbitMQ at ${where} refuses the user ${username} or its password.`,
      hint: `Correct the user and the password in url, or what credentials returns. To test them: rabbitmqctl authenticate_user ${username}. The user guest may connect from the broker's own machine only.`,
      details: { option: 'url', username },
      cause: error,
    });
  }
  if (text.startsWith('Expected ConnectionOpenOk; got <ConnectionClose')) {
    return new WhizbangError('PERMISSION_DENIED', {
      message: `RabbitMQ at ${url.host} does not let the user ${username} into the virtual host ${vhost}: it does not exist, is not running, is full, or the user has no permissions in it.`,
      hint: `Correct the path of url, or: rabbitmqctl add_vhost ${vhost}; rabbitmqctl set_permissions -p ${vhost} ${username} …, with the patterns of docs/transports/rabbitmq.md. See rabbitmqctl list_vhosts.`,
      details: { option: 'url', vhost, username },
      cause: error,
    });
  }
  if (isTlsError(error)) {
    return new WhizbangError('INVALID_OPTION', {
      message: `The TLS connection to RabbitMQ at ${where} failed: ${text.trim()}`,
      hint: 'Check that the port of url is the one for TLS (5671), and the option tls: ca for a certificate of your own authority, servername for its name, cert and key where the broker wants them.',
      details: { option: 'tls', reason: codeOf(error) },
      cause: error,
    });
  }
  return unavailable(`RabbitMQ at ${where} cannot be reached: ${text}`, error);
}

/** Why the broker has closed a channel on which something was declared, checked, consumed or published. */
export function channelError(error: unknown, what: string, place: Place): WhizbangError {
  const { settings, username } = place;
  const text = textOf(error);
  const code = codeOf(error);
  if (error instanceof WhizbangError) return error;
  const details = { option: 'topology', topology: settings.topology, username };
  if (code === reply.accessRefused) {
    return new WhizbangError('PERMISSION_DENIED', {
      message: `RabbitMQ does not let the user ${username} ${what}: ${text}`,
      hint: `Give it the rights that topology '${settings.topology}' needs: ${permissionsCommand(place)}`,
      details,
      cause: error,
    });
  }
  if (code === reply.notFound) {
    return new WhizbangError('INVALID_OPTION', {
      message: `RabbitMQ does not have what is needed to ${what}: ${text}`,
      hint: `Start the service once with topology: 'declare', or make it by hand: ${declareCommands(place)}`,
      details,
      cause: error,
    });
  }
  if (code === reply.preconditionFailed) {
    const { prefix, shards } = settings;
    const queue = queueOf(prefix, place.service, 0, shards);
    return new WhizbangError('INVALID_OPTION', {
      message: `RabbitMQ has it with other settings, so this service cannot ${what}: ${text}`,
      hint: `Choose another prefix, or empty the old one and delete it (rabbitmqctl list_queues name messages; rabbitmqctl delete_queue ${queue} --if-empty; for an exchange rabbitmqadmin delete exchange), and start again. Nothing was changed.`,
      details,
      cause: error,
    });
  }
  return unavailable(`RabbitMQ ended a channel while it was to ${what}: ${text}`, error);
}

/** For one service. The patterns: docs/transports/rabbitmq.md. */
function permissionsCommand({ settings, service, username }: Place): string {
  const { prefix, topology } = settings;
  const vhost = vhostOf(settings.urls[0] as URL);
  const queue = queueOf(prefix, service, 0, 1).slice(prefix.length + 1);
  const own = `${queue}([.].*)?`;
  const all = `^${prefix}[.](commands|events|${own})$`;
  const [configure, write, read] =
    topology === 'declare'
      ? [all, all, all]
      : ['^$', `^${prefix}[.](commands|events)$`, `^${prefix}[.]${own}$`];
  return `rabbitmqctl set_permissions -p ${vhost} ${username} '${configure}' '${write}' '${read}'`;
}

function declareCommands({ settings, service }: Place): string {
  const { commands, events } = exchangesOf(settings.prefix);
  const exchange = (name: string) => `rabbitmqadmin declare exchange name=${name} type=topic durable=true`;
  const queue = `rabbitmqadmin declare queue name=${queueOf(settings.prefix, service, 0, settings.shards)} durable=true arguments='${JSON.stringify(queueArguments)}'`;
  return [exchange(commands), exchange(events), queue].join('; ');
}

/**
 * A quorum queue with one active consumer, and a delivery limit that is never reached: with a limit, what comes back goes
 * to the head of the queue, without one to its end, and RabbitMQ 4 has one of 20 unless it is told otherwise.
 */
export const queueArguments = {
  'x-queue-type': 'quorum',
  'x-single-active-consumer': true,
  'x-delivery-limit': 1_000_000_000,
} as const;
