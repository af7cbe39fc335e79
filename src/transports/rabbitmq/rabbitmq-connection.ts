import { outageFacts } from '../../describe-error.js';
import { unlessAborted } from '../../time-limits.js';
import { faultOf } from '../connection/broker-fault.js';
import { Lifetime } from '../connection/lifetime.js';
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
  TransportState,
} from '../transport.js';
import { Link } from './link.js';
import { queueOf } from './names.js';
import { type Opener, openerOf } from './opening.js';
import { QueueConsumer } from './queue-consumer.js';
import { codeOf, reply } from './refusals.js';
import { Sender } from './sender.js';
import type { RabbitmqSettings } from './settings.js';
import { onChannel, type Topology, topologyOf } from './topology.js';

/** Two connections: a broker that slows down senders would slow down acknowledgements too if they shared one. */
export class RabbitmqConnection implements TransportConnection {
  readonly #settings: RabbitmqSettings;
  readonly #host: TransportHost;
  readonly #opener: Opener;
  readonly #topology: Topology;
  readonly #lifetime = new Lifetime();
  readonly #sendingLink: Link;
  readonly #sender: Sender;
  /** Opened with the first subscription. */
  #receivingLink: Link | undefined;
  #consumers: QueueConsumer[] = [];
  #told: TransportState = { sending: true, receiving: true };

  /** Rejects when the broker refuses it. Resolves also when the broker is away. */
  static async open(settings: RabbitmqSettings, host: TransportHost): Promise<RabbitmqConnection> {
    const connection = new RabbitmqConnection(settings, host);
    try {
      await connection.#sender.tried();
    } catch (error) {
      await connection.close();
      throw error;
    }
    return connection;
  }

  private constructor(settings: RabbitmqSettings, host: TransportHost) {
    this.#settings = settings;
    this.#host = host;
    const { serviceName } = host.instance;
    this.#opener = openerOf(settings, serviceName, host.logger);
    this.#topology = topologyOf(settings, serviceName, () => this.#opener.username);
    this.#sendingLink = this.#link('sending');
    this.#sender = new Sender({
      link: this.#sendingLink,
      settings,
      topology: this.#topology,
      onChange: () => this.#tell(),
      signal: this.#lifetime.signal,
    });
  }

  #link(purpose: string): Link {
    return new Link({
      open: () => this.#opener.open(purpose),
      onChange: () => this.#tell(),
      signal: this.#lifetime.signal,
    });
  }

  async send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]> {
    this.#lifetime.within(signal);
    if (messages.length === 0) return [];
    return unlessAborted(this.#lifetime.signal, this.#sender.send(messages, signal));
  }

  async receive(subscription: Subscription, deliver: (delivery: Delivery) => void): Promise<Receiver> {
    this.#lifetime.throwIfEnded();
    const { shards } = this.#settings;
    this.#receivingLink ??= this.#link('receiving');
    const consumers = Array.from({ length: shards }, (_, shard) =>
      this.#consumer(
        shard,
        { ...subscription, prefetch: Math.max(Math.floor(subscription.prefetch / shards), 1) },
        deliver,
      ),
    );
    this.#consumers.push(...consumers);
    const receiver = { stop: async () => void (await Promise.all(consumers.map((each) => each.stop()))) };
    try {
      await Promise.all(consumers.map((each) => each.tried()));
    } catch (error) {
      await receiver.stop();
      throw error;
    }
    return receiver;
  }

  #consumer(
    shard: number,
    { addresses, prefetch }: Subscription,
    deliver: (delivery: Delivery) => void,
  ): QueueConsumer {
    return new QueueConsumer({
      link: this.#receivingLink as Link,
      settings: this.#settings,
      topology: this.#topology,
      service: this.#host.instance.serviceName,
      shard,
      addresses,
      prefetch,
      deliver,
      onChange: () => this.#tell(),
      signal: this.#lifetime.signal,
    });
  }

  async ready(signal: AbortSignal): Promise<void> {
    await this.#sender.ready(this.#lifetime.within(signal));
  }

  /** A queue that does not exist is left out. */
  async inspect(): Promise<readonly QueueFacts[]> {
    this.#lifetime.throwIfEnded();
    const { prefix, shards } = this.#settings;
    const model = await this.#sendingLink.up(this.#lifetime.signal);
    const facts: QueueFacts[] = [];
    for (let shard = 0; shard < shards; shard++) {
      const name = queueOf(prefix, this.#host.instance.serviceName, shard, shards);
      try {
        const { messageCount, consumerCount } = await onChannel(model, (channel) => channel.checkQueue(name));
        const untold = { unacknowledged: null, oldestSeconds: null };
        facts.push({ name, depth: messageCount, consumers: consumerCount, ...untold });
      } catch (error) {
        if (codeOf(error) !== reply.notFound)
          throw this.#topology.explain(error, `look at the queue ${name}`);
      }
    }
    return facts;
  }

  /** Compares the arguments of the queues that exist. Policies are not told over AMQP. */
  async examine(): Promise<readonly BrokerFinding[]> {
    this.#lifetime.throwIfEnded();
    const model = await this.#sendingLink.up(this.#lifetime.signal);
    // Whatever this instance itself may do there, this only looks.
    const onlyChecks = { ...this.#settings, topology: 'check' } as const;
    const topology = topologyOf(onlyChecks, this.#host.instance.serviceName, () => this.#opener.username);
    const findings: BrokerFinding[] = [];
    for (let shard = 0; shard < this.#settings.shards; shard++) {
      try {
        if (!(await topology.queue(model, shard, []))) findings.push(this.#notCompared(shard));
      } catch (error) {
        if (codeOf((error as Error).cause) !== reply.notFound) findings.push(faultOf(error));
      }
    }
    return findings;
  }

  #notCompared(shard: number): BrokerFinding {
    const { prefix, shards } = this.#settings;
    const name = queueOf(prefix, this.#host.instance.serviceName, shard, shards);
    return {
      level: 'warning',
      text: `The arguments of the queue ${name} were not compared: RabbitMQ tells them only to a user who may configure it.`,
      remedy: `Give the doctor such a user, or look yourself: rabbitmqctl list_queues name arguments.`,
    };
  }

  async close(): Promise<void> {
    this.#lifetime.end();
    // The channels first: on a channel nothing overtakes an acknowledgement, but the end of the connection does.
    await Promise.all([this.#sender.close(), ...this.#consumers.splice(0).map((each) => each.close())]);
    await Promise.all([this.#sendingLink.close(), this.#receivingLink?.close()]);
  }

  /** Tells the host and the log when something has changed. */
  #tell(): void {
    if (this.#lifetime.signal.aborted) return;
    this.#sender.notice();
    const sending = this.#sender.canSend;
    const waiting = this.#consumers.find(({ isReceiving }) => !isReceiving);
    const receiving = waiting === undefined;
    const error = sending && receiving ? undefined : this.#reason(waiting);
    const isSame = sending === this.#told.sending && receiving === this.#told.receiving;
    if (isSame && codeOf(error) === codeOf(this.#told.error)) return;
    // Without an error it has not been tried yet, or a channel is being opened again.
    if (!(sending && receiving) && error === undefined) return;
    this.#told = { sending, receiving, ...(error !== undefined && { error }) };
    const { logger } = this.#host;
    if (error === undefined) logger.info({}, 'RabbitMQ can be reached');
    else logger.warn({ sending, receiving, ...outageFacts(error) }, 'RabbitMQ cannot be used at the moment');
    this.#host.onState(this.#told);
  }

  #reason(waiting: QueueConsumer | undefined): unknown {
    return this.#sender.error ?? this.#receivingLink?.error ?? waiting?.error;
  }
}
