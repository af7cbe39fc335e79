import type * as ServiceBus from '@azure/service-bus';
import { WhizbangError } from '../../errors.js';
import type { AzureServiceBusSettings } from './options.js';
import { ReplaceableClient } from './replaceable-client.js';

/** How long one send may take, and how long one wait for a session lasts. */
const sendMs = 30_000;
const acceptMs = 60_000;
/** How long one request of the administration may take. */
const manageMs = 30_000;

/** The clients of one connection. Sending has a connection of its own, so that a slow receiver never blocks it. */
export class Broker {
  readonly settings: AzureServiceBusSettings;
  readonly sending: ReplaceableClient;
  readonly receiving: ReplaceableClient;
  readonly administration: ServiceBus.ServiceBusAdministrationClient;

  private constructor(sdk: typeof ServiceBus, settings: AzureServiceBusSettings) {
    this.settings = settings;
    // Trying again is the work of the callers, which know what may be sent behind it.
    const within = (timeoutInMs: number) => ({ retryOptions: { maxRetries: 0, timeoutInMs } });
    const { connectionString, fullyQualifiedNamespace = '', credential } = settings;
    const clientOf = (options: ServiceBus.ServiceBusClientOptions) => () =>
      connectionString === undefined
        ? new sdk.ServiceBusClient(fullyQualifiedNamespace, credential as ServiceBus.TokenCredential, options)
        : new sdk.ServiceBusClient(connectionString, options);
    this.sending = new ReplaceableClient(clientOf(within(sendMs)));
    this.receiving = new ReplaceableClient(clientOf(within(acceptMs)));
    const once = { retryOptions: { maxRetries: 0 } };
    this.administration =
      connectionString === undefined
        ? new sdk.ServiceBusAdministrationClient(
            fullyQualifiedNamespace,
            credential as ServiceBus.TokenCredential,
            once,
          )
        : new sdk.ServiceBusAdministrationClient(connectionString, once);
    this.#limitAdministration();
    if (settings.administrationUrl !== undefined) this.#administerAt(settings.administrationUrl);
  }

  static async open(settings: AzureServiceBusSettings): Promise<Broker> {
    const sdk = await load();
    try {
      return new Broker(sdk, settings);
    } catch {
      // Without its cause, which might show the key.
      throw new WhizbangError('INVALID_OPTION', {
        message: 'azureServiceBusTransport: the client cannot read the option connectionString.',
        hint: 'It looks like Endpoint=sb://<namespace>.servicebus.windows.net/;SharedAccessKeyName=<name>;SharedAccessKey=<key>.',
        details: { option: 'connectionString' },
      });
    }
  }

  /** Without this, a request over a connection that died silently would never end. */
  #limitAdministration(): void {
    this.administration.pipeline.addPolicy({
      name: 'timeLimit',
      sendRequest: (request, next) => {
        request.timeout = manageMs;
        return next(request);
      },
    });
  }

  /** The client knows https and the port of the messages only; the emulator has another port, without TLS. */
  #administerAt(url: string): void {
    this.administration.pipeline.addPolicy(
      {
        name: 'administrationUrl',
        sendRequest: (request, next) => {
          const { pathname, search } = new URL(request.url);
          request.url = `${url.replace(/\/$/, '')}${pathname}${search}`;
          request.allowInsecureConnection = true;
          return next(request);
        },
      },
      { afterPhase: 'Sign' },
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.sending.close(), this.receiving.close()]);
  }
}

async function load(): Promise<typeof ServiceBus> {
  try {
    return await import('@azure/service-bus');
  } catch (error) {
    throw new WhizbangError('INVALID_OPTION', {
      message: 'azureServiceBusTransport needs the package @azure/service-bus, which is not installed.',
      hint: 'Run `npm install @azure/service-bus`.',
      details: { option: 'transport' },
      cause: error,
    });
  }
}
