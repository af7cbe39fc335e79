// Makes messages of the transport from items of the outbox. In: items, as they are handed out. Out: messages, each with its
// place among all that this instance was handed out, by which receivers see whether they arrive in order.
import { randomUUID } from 'node:crypto';
import type { WorkItem } from '../../message.js';
import type { TransportMessage } from '../../transports/index.js';

export class Outgoing {
  readonly #run = randomUUID().slice(0, 8);
  readonly #places = new WeakMap<WorkItem, number>();
  #handedOut = 0;

  /** Gives each item its number. An item that is sent again keeps it. */
  number(items: readonly WorkItem[]): void {
    for (const item of items) this.#places.set(item, ++this.#handedOut);
  }

  message(item: WorkItem, service: string): TransportMessage {
    return {
      messageId: item.messageId,
      address: item.destination,
      type: item.eventType,
      payload: item.eventData,
      metadata: item.metadata,
      scope: item.scope,
      streamId: item.streamId,
      source: service,
      sequence: item.sequenceOrder.toString(),
      place: `${this.#run}.${this.#places.get(item)}`,
      sentAt: sentAtOf(item),
    };
  }
}

/** The time of the last hop. A row that another program has inserted has none: it is sent now. */
function sentAtOf({ metadata }: WorkItem): string {
  const { hops } = (metadata ?? {}) as { readonly hops?: readonly { readonly at?: unknown }[] };
  const at = Array.isArray(hops) ? hops.at(-1)?.at : undefined;
  return typeof at === 'string' ? at : new Date().toISOString();
}
