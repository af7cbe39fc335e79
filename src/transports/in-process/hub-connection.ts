import { WhizbangError } from '../../errors.js';
import type {
  Delivery,
  QueueFacts,
  Receiver,
  SendOutcome,
  Subscription,
  TransportConnection,
  TransportHost,
  TransportMessage,
} from '../transport.js';
import { decodeMessage, encodeMessage } from '../wire/cloud-events.js';
import type { Hub } from './hub.js';
import type { Consumer, Handout, ServiceQueue } from './service-queue.js';

export class HubConnection implements TransportConnection {
  readonly #hub: Hub;
  readonly #service: string;
  readonly #stopWatching: () => void;
  readonly #closed = new AbortController();
  readonly #consumers: { readonly queue: ServiceQueue; readonly consumer: Consumer }[] = [];

  constructor(hub: Hub, host: TransportHost) {
    this.#hub = hub;
    this.#service = host.instance.serviceName;
    this.#stopWatching = hub.watch((isAway) => host.onState({ sending: !isAway, receiving: !isAway }));
  }

  async send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]> {
    this.#closed.signal.throwIfAborted();
    signal.throwIfAborted();
    this.#hub.refuseWhenAway();
    const failedStreams = new Set<string>();
    return messages.map((message) => this.#sendOne(message, failedStreams));
  }

  #sendOne(message: TransportMessage, failedStreams: Set<string>): SendOutcome {
    const { streamId, address } = message;
    if (streamId !== null && failedStreams.has(streamId)) return { kind: 'held-back' };
    let bytes: Uint8Array;
    try {
      bytes = encodeMessage(message);
    } catch (error) {
      if (streamId !== null) failedStreams.add(streamId);
      return { kind: 'failed', error, final: true };
    }
    this.#hub.accept(streamId, { address, bytes });
    return { kind: 'sent' };
  }

  async receive(subscription: Subscription, deliver: (delivery: Delivery) => void): Promise<Receiver> {
    this.#closed.signal.throwIfAborted();
    const queue = this.#hub.bind(this.#service, subscription.addresses);
    const consumer = queue.consume(subscription.prefetch, (handout) => deliver(deliveryOf(handout)));
    this.#consumers.push({ queue, consumer });
    return { stop: async () => queue.stop(consumer) };
  }

  async ready(signal: AbortSignal): Promise<void> {
    await this.#hub.untilBack(AbortSignal.any([this.#closed.signal, signal]));
  }

  async inspect(): Promise<readonly QueueFacts[]> {
    return this.#hub.inspect(this.#service);
  }

  async close(): Promise<void> {
    this.#stopWatching();
    this.#closed.abort(
      new WhizbangError('DISPOSED', { message: 'The connection to the transport is closed.' }),
    );
    for (const { queue, consumer } of this.#consumers.splice(0)) {
      queue.stop(consumer);
      queue.giveBackAll(consumer);
    }
  }
}

/**
 * Decodes the message from its bytes at each delivery, so that no receiver shares an object with the sender
 * or another receiver.
 */
function deliveryOf(handout: Handout): Delivery {
  const { message } = handout;
  return {
    content: decodeMessage(message.bytes, message.address),
    acknowledge: async () => handout.acknowledge(),
    reject: async () => handout.giveBack(),
  };
}
