import { describeError } from '../../describe-error.js';
import { unlessAborted } from '../../time-limits.js';
import { Lifetime, pause } from '../connection/lifetime.js';
import { StateReport } from '../connection/state-report.js';
import type {
  BrokerFinding,
  Delivery,
  QueueFacts,
  Receiver,
  SendOutcome,
  Subscription,
  TransportConnection,
  TransportHost,
  TransportMessage,
} from '../transport.js';
import { type NatsClient, openClient } from './client.js';
import { examineStream } from './examine.js';
import { trim } from './floors.js';
import { inspectShards } from './inspect.js';
import { NatsNames } from './names.js';
import { jetStreamFailed } from './nats-errors.js';
import { NatsLink } from './nats-link.js';
import type { NatsSettings } from './nats-options.js';
import { NatsReceiver } from './nats-receiver.js';
import { sendAll } from './sending.js';
import { ensureStream } from './topology.js';

const trimMs = 10_000;
const pauseMs = 50;

export class NatsConnection implements TransportConnection {
  readonly #settings: NatsSettings;
  readonly #host: TransportHost;
  readonly #names: NatsNames;
  readonly #link: NatsLink;
  readonly #receivers = new Set<NatsReceiver>();
  readonly #lifetime = new Lifetime();
  readonly #state: StateReport;
  #trimTimer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;
  #receivingTrouble: unknown;

  constructor(settings: NatsSettings, host: TransportHost) {
    this.#settings = settings;
    this.#host = host;
    this.#names = new NatsNames(settings.prefix, settings.shards);
    this.#state = new StateReport(host, this.#lifetime.signal);
    this.#link = new NatsLink({
      open: () => this.#open(),
      onChange: (isUp, error) => this.#tell(isUp, error),
    });
  }

  async start(): Promise<void> {
    await this.#link.start();
  }

  async send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]> {
    const ended = this.#lifetime.within(signal);
    if (messages.length === 0) return [];
    // A publish under way is not cancelled; only the wait for it ends.
    return unlessAborted(ended, sendAll(this.#link.client, this.#names, messages, ended));
  }

  async receive(subscription: Subscription, deliver: (delivery: Delivery) => void): Promise<Receiver> {
    this.#lifetime.throwIfEnded();
    const receiver = new NatsReceiver({
      host: this.#host,
      link: this.#link,
      names: this.#names,
      leaseSeconds: this.#settings.leaseSeconds,
      ensureStream: (client) => this.#ensureStream(client),
      subscription,
      deliver,
      onTrouble: (error) => this.#tellReceiving(error),
    });
    this.#receivers.add(receiver);
    await receiver.start();
    this.#trimTimer ??= setInterval(() => void this.#trim(), trimMs).unref();
    return receiver;
  }

  /** Subscriptions that were waiting for NATS are in place, too. */
  async ready(signal: AbortSignal): Promise<void> {
    const ended = this.#lifetime.within(signal);
    for (;;) {
      const client = await this.#link.up(ended);
      try {
        await unlessAborted(ended, this.#ensureStream(client));
        for (const receiver of this.#receivers) await unlessAborted(ended, receiver.subscribe(client));
        // Over a connection that has just died, neither an answer nor an error would come.
        const answers = Promise.race([
          client.nc.rtt().then(() => true),
          client.nc.closed().then(() => false),
        ]);
        if (await unlessAborted(ended, answers)) return;
      } catch (error) {
        this.#host.logger.debug({ error: describeError(error) }, 'NATS is not ready yet');
      }
      await pause(pauseMs, ended);
    }
  }

  async inspect(): Promise<readonly QueueFacts[]> {
    const { serviceName } = this.#host.instance;
    return this.#asked((client) => inspectShards(client, this.#names, serviceName, [...this.#receivers]));
  }

  async examine(): Promise<readonly BrokerFinding[]> {
    return this.#asked((client) => examineStream(client, this.#names));
  }

  async #asked<T>(question: (client: NatsClient) => Promise<T>): Promise<T> {
    const { client } = this.#link;
    return question(client).catch((error: unknown) => {
      throw jetStreamFailed(client, this.#names.stream, error);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#lifetime.end();
    clearInterval(this.#trimTimer);
    await Promise.allSettled([...this.#receivers].map((receiver) => receiver.close()));
    await this.#link.close();
  }

  async #open(): Promise<NatsClient> {
    const { instanceId, serviceName } = this.#host.instance;
    const client = await openClient(this.#settings, `${serviceName} ${instanceId}`);
    try {
      await this.#ensureStream(client);
    } catch (error) {
      await client.nc.close();
      throw error;
    }
    void this.#reportRefusals(client);
    return client;
  }

  async #ensureStream(client: NatsClient): Promise<void> {
    await ensureStream(client, this.#names, this.#settings);
  }

  /** A right that is missing for a message without an answer shows nowhere else. */
  async #reportRefusals(client: NatsClient): Promise<void> {
    for await (const status of client.nc.status()) {
      if (status.type !== 'error') continue;
      const error = jetStreamFailed(client, this.#names.stream, status.error);
      if (error.code === 'TRANSPORT_UNAVAILABLE') continue;
      this.#host.logger.error({ error: describeError(error) }, 'NATS refuses what the transport needs');
      this.#tellReceiving(error);
    }
  }

  async #trim(): Promise<void> {
    if (!this.#link.isUp || ![...this.#receivers].some(({ isActive }) => isActive)) return;
    await trim(this.#link.client, this.#names).catch((error: unknown) => {
      this.#host.logger.debug(
        { error: describeError(error) },
        'The stream at NATS was not trimmed this time',
      );
    });
  }

  #tellReceiving(error: unknown): void {
    if (error === this.#receivingTrouble) return;
    this.#receivingTrouble = error;
    if (this.#link.isUp) this.#tell(true);
  }

  #tell(isUp: boolean, error?: unknown): void {
    if (isUp) this.#state.tell(undefined, this.#receivingTrouble);
    else this.#state.tell(error, error);
  }
}
