import type { WhizbangError } from '../../errors.js';
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
import { Broker } from './broker.js';
import { examineSubscription } from './examine.js';
import { asOutage, denied, isDenied, isFinal, isMissing, isUnexpected } from './failures.js';
import type { AzureServiceBusSettings } from './options.js';
import { Receiving } from './receiving.js';
import { Sending } from './sending.js';
import { nameOf, prepareSubscription, prepareTopic, reachTopic } from './topology.js';

const longestPauseMs = 2_000;

export class AzureConnection implements TransportConnection {
  readonly #broker: Broker;
  readonly #host: TransportHost;
  readonly #sending: Sending;
  readonly #state: StateReport;
  readonly #lifetime = new Lifetime();
  readonly #receivers: Receiving[] = [];
  readonly #prepareTopic: () => Promise<void>;
  /** Consecutive sends that failed. */
  #outages = 0;
  #unexpected = '';

  private constructor(broker: Broker, host: TransportHost) {
    this.#broker = broker;
    this.#host = host;
    this.#sending = new Sending(broker);
    this.#state = new StateReport(host, this.#lifetime.signal);
    this.#prepareTopic = untilDone(() => prepareTopic(broker));
  }

  static async open(settings: AzureServiceBusSettings, host: TransportHost): Promise<AzureConnection> {
    nameOf(host.instance.serviceName);
    const broker = await Broker.open(settings);
    const connection = new AzureConnection(broker, host);
    try {
      await connection.#greet();
    } catch (error) {
      if (isFinal(error)) {
        await connection.close();
        throw error;
      }
      connection.#state.cannotSend(connection.#outageOf(error));
      connection.ready(connection.#lifetime.signal).catch(() => {});
    }
    return connection;
  }

  async #greet(): Promise<void> {
    await this.#prepareTopic();
    await reachTopic(this.#broker.sending, this.#broker.settings.topic).catch((error: unknown) => {
      if (!isDenied(error)) throw error;
      const hint = 'Check the key. Give the claim Send, or the role Azure Service Bus Data Sender.';
      throw denied(`to send to the topic ${this.#broker.settings.topic}`, 'the claim Send', hint, error);
    });
  }

  async send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]> {
    const ended = this.#lifetime.within(signal);
    if (messages.length === 0) return [];
    try {
      const outcomes = await unlessAborted(ended, this.#send(messages));
      this.#outages = 0;
      this.#state.canSend();
      return outcomes;
    } catch (error) {
      ended.throwIfAborted();
      this.#outages++;
      const outage = this.#outageOf(error);
      this.#state.cannotSend(outage);
      throw outage;
    }
  }

  async #send(messages: readonly TransportMessage[]): Promise<readonly SendOutcome[]> {
    await this.#prepareTopic();
    return this.#sending.send(messages);
  }

  async receive(subscription: Subscription, deliver: (delivery: Delivery) => void): Promise<Receiver> {
    this.#lifetime.throwIfEnded();
    const { instance, logger } = this.#host;
    const prepare = untilDone(async () => {
      await this.#prepareTopic();
      await prepareSubscription(this.#broker, instance.serviceName, subscription.addresses, logger);
    });
    let outage: unknown;
    try {
      await unlessAborted(this.#lifetime.signal, prepare());
    } catch (error) {
      this.#lifetime.throwIfEnded();
      if (isFinal(error)) throw error;
      outage = this.#outageOf(error);
      this.#state.cannotReceive(outage);
    }
    const receiving = new Receiving(this.#broker, {
      service: instance.serviceName,
      subscription,
      deliver,
      prepare,
      outage,
      onState: (error) =>
        error === undefined ? this.#state.canReceive() : this.#state.cannotReceive(this.#outageOf(error)),
      onError: (error) => this.#tellUnexpected(error),
    });
    this.#receivers.push(receiving);
    receiving.start();
    return receiving;
  }

  /** Asks the broker. After a failed send it pauses first: a topic that answers may still be full. */
  async ready(signal: AbortSignal): Promise<void> {
    const ended = this.#lifetime.within(signal);
    for (let failures = this.#outages; ; failures++) {
      ended.throwIfAborted();
      if (failures > 0) await pause(Math.min(25 * 2 ** failures, longestPauseMs), ended);
      try {
        await unlessAborted(ended, this.#greet());
        this.#state.canSend();
        return;
      } catch (error) {
        ended.throwIfAborted();
        this.#state.cannotSend(this.#outageOf(error));
      }
    }
  }

  /** Needs the claim Manage. Without it the numbers are null. A subscription that does not exist is left out. */
  async inspect(): Promise<readonly QueueFacts[]> {
    const { administration, settings } = this.#broker;
    const name = nameOf(this.#host.instance.serviceName);
    const factsOf = (queue: string, depth: number | null): QueueFacts => ({
      name: `${settings.topic}/${queue}`,
      depth,
      unacknowledged: null,
      consumers: null,
      oldestSeconds: null,
    });
    try {
      const found = await administration.getSubscriptionRuntimeProperties(settings.topic, name);
      const dead = factsOf(`${name}/$DeadLetterQueue`, found.deadLetterMessageCount);
      return [factsOf(name, found.activeMessageCount), dead];
    } catch (error) {
      if (isMissing(error)) return [];
      if (isDenied(error)) return [factsOf(name, null)];
      throw asOutage(error);
    }
  }

  async examine(): Promise<readonly BrokerFinding[]> {
    return examineSubscription(this.#broker, this.#host.instance.serviceName);
  }

  #outageOf(error: unknown): WhizbangError {
    this.#tellUnexpected(error);
    return asOutage(error);
  }

  /** A fault of the client is tried again like an outage, and people learn of it, once until there is another one. */
  #tellUnexpected(error: unknown): void {
    if (!isUnexpected(error) || this.#unexpected === String(error)) return;
    this.#unexpected = String(error);
    this.#host.logger.error(
      { error, transport: 'azure-service-bus' },
      'The client of Azure Service Bus failed with an error that is no outage. It is tried again; please report it',
    );
  }

  async close(): Promise<void> {
    this.#lifetime.end();
    await Promise.all(this.#receivers.map((receiver) => receiver.close()));
    await this.#broker.close();
  }
}

/** Runs until it has succeeded once. Calls at the same time share a run. */
function untilDone(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  };
}
