import type {
  ServiceBusClient,
  ServiceBusMessage,
  ServiceBusMessageBatch,
  ServiceBusSender,
} from '@azure/service-bus';
import type { ReplaceableClient } from './replaceable-client.js';

/** A batch may have 1 MiB also where a single message may have more. */
const mostBatchBytes = 1024 * 1024;
/** A network that carries less than this counts as silent. */
const slowestBytesPerMs = 50;
const silenceMs = 10_000;

/** What the client keeps of its link, and does not show. */
interface WatchedLink {
  readonly link?: { isOpen(): boolean };
}

/** The way to the topic over one client. When that is replaced, all that is under way fails. */
export class TopicLink {
  readonly client: ServiceBusClient;
  readonly #sending: ReplaceableClient;
  readonly #sender: ServiceBusSender;

  constructor(sending: ReplaceableClient, topic: string) {
    this.#sending = sending;
    this.client = sending.current;
    this.#sender = this.client.createSender(topic);
  }

  async batch(): Promise<ServiceBusMessageBatch> {
    const batch = await this.emptyBatch();
    if (batch.maxSizeInBytes <= mostBatchBytes) return batch;
    return this.emptyBatch({ maxSizeInBytes: mostBatchBytes });
  }

  /** Opens the link where it is not open. A batch tells how much the topic takes. */
  async emptyBatch(options?: { readonly maxSizeInBytes: number }): Promise<ServiceBusMessageBatch> {
    return this.#sending.ask(() => this.#sender.createMessageBatch(options), { of: this.client });
  }

  /** Waits for the broker's answer, or until the link is gone on which it would come. */
  async send(messages: ServiceBusMessage | ServiceBusMessageBatch, bytes: number): Promise<void> {
    const { _sender: watched } = this.#sender as unknown as { readonly _sender?: WatchedLink };
    const link = watched?.link;
    await this.#sending.ask(() => this.#sender.sendMessages(messages), {
      of: this.client,
      patienceMs: silenceMs + bytes / slowestBytesPerMs,
      isLost: () => link !== undefined && (watched?.link !== link || !link.isOpen()),
    });
  }
}
