import { WhizbangError } from '../../errors.js';
import type { SendOutcome, TransportMessage } from '../transport.js';
import type { Broker } from './broker.js';
import { isTooLarge } from './failures.js';
import { TopicLink } from './topic-link.js';
import { sessionIdOf, toWire } from './wire-message.js';

/**
 * Sends the messages of each session in batches, one after the other. A batch is stored as a whole or not at all, so no
 * message is on its way while an earlier one of its stream is unconfirmed. Sessions do not wait for each other.
 */
export class Sending {
  readonly #broker: Broker;
  #link: TopicLink | undefined;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  async send(messages: readonly TransportMessage[]): Promise<readonly SendOutcome[]> {
    const { sessions, shards } = this.#broker.settings;
    const link = this.#currentLink();
    const outcomes = new Map<TransportMessage, SendOutcome>();
    const bySession = new Map<string, TransportMessage[]>();
    for (const message of messages) {
      const sessionId = sessionIdOf(message, sessions, shards);
      bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), message]);
    }
    const sending = [...bySession].map(([sessionId, group]) =>
      this.#sendSession(link, sessionId, group, outcomes),
    );
    const results = await Promise.allSettled(sending);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return messages.map((message) => outcomes.get(message) ?? { kind: 'held-back' });
  }

  /** Over the client that there is now. */
  #currentLink(): TopicLink {
    const { sending, settings } = this.#broker;
    if (this.#link?.client !== sending.current) this.#link = new TopicLink(sending, settings.topic);
    return this.#link;
  }

  async #sendSession(
    link: TopicLink,
    sessionId: string,
    messages: readonly TransportMessage[],
    outcomes: Map<TransportMessage, SendOutcome>,
  ): Promise<void> {
    const stopped = new Set<string>();
    const fail = (message: TransportMessage, error: unknown) => {
      outcomes.set(message, { kind: 'failed', error, final: true });
      if (message.streamId !== null) stopped.add(message.streamId);
    };
    let batch = await link.batch();
    let inBatch: TransportMessage[] = [];
    const flush = async () => {
      if (inBatch.length === 0) return;
      await link.send(batch, batch.sizeInBytes);
      for (const message of inBatch) outcomes.set(message, { kind: 'sent' });
      inBatch = [];
      batch = await link.batch();
    };
    for (const message of messages) {
      if (message.streamId !== null && stopped.has(message.streamId)) continue;
      try {
        const wire = toWire(message, sessionId);
        if (!batch.tryAddMessage(wire)) {
          await flush();
          if (!batch.tryAddMessage(wire)) {
            await sendAlone(link, message, wire);
            outcomes.set(message, { kind: 'sent' });
            continue;
          }
        }
        inBatch.push(message);
      } catch (error) {
        if (!(error instanceof WhizbangError)) throw error;
        fail(message, error);
      }
    }
    await flush();
  }
}

/** A message that no batch has room for may still be one that the topic takes. */
async function sendAlone(
  link: TopicLink,
  message: TransportMessage,
  wire: ReturnType<typeof toWire>,
): Promise<void> {
  const bytes = wire.body.length;
  const { maxSizeInBytes: limit } = await link.emptyBatch();
  const tooLarge = (cause?: unknown) =>
    new WhizbangError('INVALID_MESSAGE', {
      message: `Message ${message.messageId} of type ${message.type} has ${bytes} bytes, and the topic takes ${limit} with the properties.`,
      hint: 'Send a reference to the data instead. The limit is 256 KB in the tier Standard; in Premium it is --max-message-size of the topic.',
      details: { messageId: message.messageId, bytes, limit },
      cause,
    });
  if (bytes >= limit) throw tooLarge();
  try {
    await link.send(wire, bytes);
  } catch (error) {
    throw isTooLarge(error) ? tooLarge(error) : error;
  }
}
