import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { Delivery } from '../transport.js';
import { Acknowledgements } from './acknowledgements.js';
import { readDelivery } from './amqp-message.js';
import { KeptChannel } from './kept-channel.js';
import type { Link } from './link.js';
import { addressReader, queueOf } from './names.js';
import { codeOf, reply, unavailable } from './refusals.js';
import type { RabbitmqSettings } from './settings.js';
import type { Topology } from './topology.js';

interface QueueConsumerOptions {
  readonly link: Link;
  readonly settings: RabbitmqSettings;
  readonly topology: Topology;
  readonly service: string;
  readonly shard: number;
  readonly addresses: readonly string[];
  readonly prefetch: number;
  readonly deliver: (delivery: Delivery) => void;
  readonly onChange: () => void;
  readonly signal: AbortSignal;
}

/**
 * Consumes one queue. What is to come again goes back by closing the channel, and nothing else: on a quorum queue a nack or
 * a cancelled consumer lets later messages pass. All that is unacknowledged then returns to the head, in order.
 */
export class QueueConsumer {
  readonly #options: QueueConsumerOptions;
  readonly #queue: string;
  readonly #addressOf: (routingKey: string) => string;
  readonly #channel: KeptChannel<Channel>;
  /** Handed to the caller over the present channel, and not acknowledged. */
  #unacknowledged = new Set<Delivery>();
  /** The channel that deliveries are taken from. Those of any other have come again, or will. */
  #source: Channel | undefined;
  #acknowledgements: Acknowledgements | undefined;
  #declaredOn: ChannelModel | undefined;
  #isStopped = false;

  constructor(options: QueueConsumerOptions) {
    this.#options = options;
    const { settings, service, shard, addresses, topology } = options;
    this.#queue = queueOf(settings.prefix, service, shard, settings.shards);
    this.#addressOf = addressReader(addresses);
    this.#channel = new KeptChannel<Channel>({
      link: options.link,
      create: (model) => model.createChannel(),
      setUp: (channel, model) => this.#consume(channel, model),
      explain: (error) => topology.explain(error, `consume the queue ${this.#queue}`),
      explainEnd: (error) => this.#explainEnd(error),
      onChange: options.onChange,
      signal: options.signal,
    });
  }

  /** Settles with the first attempt: rejects when it was refused, resolves also when the broker is away. */
  async tried(): Promise<void> {
    await this.#channel.tried();
  }

  get isReceiving(): boolean {
    return this.#isStopped || this.#channel.current !== undefined;
  }

  get error(): unknown {
    return this.#channel.error;
  }

  /**
   * Delivers no more. The consumer stays until nothing is unacknowledged, so that no other instance gets a later message
   * before. What still arrives is left alone: it goes to the next one when the channel closes.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#channel.retire();
    if (this.#unacknowledged.size === 0) await this.#closeChannel();
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    this.#source = undefined;
    await this.#closeChannel();
  }

  async #closeChannel(): Promise<void> {
    this.#acknowledgements?.flush();
    await this.#channel.close();
  }

  async #consume(channel: Channel, model: ChannelModel): Promise<void> {
    const { topology, shard, addresses, prefetch } = this.#options;
    if (this.#declaredOn !== model) {
      await topology.exchanges(model);
      await topology.queue(model, shard, addresses);
      this.#declaredOn = model;
    }
    await channel.prefetch(prefetch);
    this.#unacknowledged = new Set();
    this.#source = channel;
    this.#acknowledgements = new Acknowledgements(channel);
    channel.once('close', () => {
      if (this.#source === channel) this.#source = undefined;
    });
    await channel.consume(this.#queue, (message) => this.#take(channel, message));
  }

  #take(channel: Channel, message: ConsumeMessage | null): void {
    if (message === null) {
      // The queue was deleted: it is declared again.
      this.#declaredOn = undefined;
      this.#source = undefined;
      void this.#channel.reopen();
      return;
    }
    if (this.#isStopped || this.#source !== channel) return;
    const delivery = this.#deliveryOf(channel, message);
    this.#unacknowledged.add(delivery);
    this.#options.deliver(delivery);
  }

  #deliveryOf(channel: Channel, message: ConsumeMessage): Delivery {
    const { exchange, routingKey } = message.fields;
    // Who sends straight to a queue names it instead of an address.
    const address = exchange === '' ? this.#options.service : this.#addressOf(routingKey);
    const delivery: Delivery = {
      content: readDelivery(message, address),
      acknowledge: async () => {
        if (!this.#isOpen(channel, delivery)) return;
        this.#unacknowledged.delete(delivery);
        this.#acknowledgements?.add(message);
        if (this.#isStopped && this.#unacknowledged.size === 0) await this.#closeChannel();
      },
      reject: async () => {
        if (!this.#isOpen(channel, delivery)) return;
        this.#source = undefined;
        this.#acknowledgements?.flush();
        await this.#channel.reopen();
      },
    };
    return delivery;
  }

  #explainEnd(error: unknown): Error {
    const { topology } = this.#options;
    if (codeOf(error) !== reply.preconditionFailed)
      return topology.explain(error, `consume the queue ${this.#queue}`);
    return unavailable(
      `RabbitMQ took back what was unacknowledged of the queue ${this.#queue}; it comes again. Perhaps it waited longer than consumer_timeout of the broker: ${(error as Error).message}`,
      error,
    );
  }

  #isOpen(channel: Channel, delivery: Delivery): boolean {
    return this.#source === channel && this.#unacknowledged.has(delivery);
  }
}
