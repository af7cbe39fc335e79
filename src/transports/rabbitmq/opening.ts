import type { Duplex } from 'node:stream';
import type { ChannelModel } from 'amqplib';
import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { isRefusal, openingError, placeOf, unavailable } from './refusals.js';
import type { RabbitmqCredentials, RabbitmqSettings } from './settings.js';
import { checkServer } from './versions.js';

const connectMs = 10_000;
const closeMs = 5_000;

export interface Opener {
  /** Tries each URL once, beginning behind the one that was tried last. Rejects with a WhizbangError. */
  open(purpose: string): Promise<ChannelModel>;
  /** The user of the last attempt. */
  readonly username: string;
}

export function openerOf(settings: RabbitmqSettings, service: string, logger: Logger): Opener {
  const { urls } = settings;
  let next = 0;
  let username = 'guest';

  const openOne = async (url: URL, purpose: string) => {
    const { connect } = await amqplib();
    const credentials = await credentialsOf(settings, url);
    username = credentials.username;
    try {
      const model = await connect(
        {
          protocol: url.protocol.slice(0, -1),
          hostname: url.hostname.replace(/^\[|\]$/g, ''),
          ...(url.port !== '' && { port: Number(url.port) }),
          ...credentials,
          vhost: url.pathname.slice(1),
          heartbeat: settings.heartbeatSeconds,
        },
        {
          ...(url.protocol === 'amqps:' && settings.tls),
          timeout: connectMs,
          noDelay: true,
          clientProperties: { connection_name: `whizbang ${service} (${purpose})` },
        },
      );
      model.on('error', () => {}); // `close` follows, with the same error
      return model;
    } catch (error) {
      throw openingError(error, url, username);
    }
  };

  return {
    get username() {
      return username;
    },
    open: async (purpose) => {
      const errors: unknown[] = [];
      for (let tried = 0; tried < urls.length; tried++) {
        const url = urls[next++ % urls.length] as URL;
        try {
          const model = await openOne(url, purpose);
          try {
            checkServer(model.connection.serverProperties, placeOf(url), logger);
          } catch (error) {
            await shut(model);
            throw error;
          }
          return model;
        } catch (error) {
          errors.push(error);
        }
      }
      // Only when every node refuses it, trying again does not help.
      throw errors.find((error) => !isRefusal(error)) ?? errors[0];
    },
  };
}

async function credentialsOf({ credentials }: RabbitmqSettings, url: URL): Promise<RabbitmqCredentials> {
  if (credentials !== undefined) {
    try {
      const { username, password } = await credentials();
      return { username, password };
    } catch (error) {
      throw unavailable('The function credentials of rabbitmqTransport has failed.', error);
    }
  }
  if (url.username === '' && url.password === '') return { username: 'guest', password: 'guest' };
  return { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
}

async function amqplib(): Promise<typeof import('amqplib')> {
  try {
    return await import('amqplib');
  } catch (error) {
    throw new WhizbangError('INVALID_OPTION', {
      message: 'rabbitmqTransport needs the package amqplib, and it cannot be loaded.',
      hint: 'npm install amqplib',
      details: { option: 'transport', package: 'amqplib' },
      cause: error,
    });
  }
}

/** Closes a connection, and its socket also when the broker no longer answers: it would keep the process alive. */
export async function shut(model: ChannelModel): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, closeMs);
  });
  await Promise.race([model.close().catch(() => {}), closed(model), tooLate]);
  clearTimeout(timer);
  dropSocket(model);
}

/** amqplib only ends its socket, which does nothing while packets are lost. It has no other way to it. */
export function dropSocket(model: ChannelModel, error?: Error): void {
  const { stream } = model.connection as { readonly stream?: Duplex };
  stream?.destroy(error);
}

/** Resolves with the error, or with undefined, when the connection has ended. */
export const closed = (model: ChannelModel): Promise<unknown> =>
  new Promise((resolve) => model.once('close', resolve));
