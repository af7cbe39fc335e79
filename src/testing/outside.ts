import { AssertionError } from 'node:assert';
import { type ConnectionPool, defaultSchema } from '../database/index.js';
import { type ContextOptions, Dispatcher, notSealing } from '../dispatch/index.js';
import { silentLogger } from '../logger.js';
import type { MessageId, NewOutboxMessage } from '../message.js';
import { newMessageId } from '../message-id.js';
import type { MessageToSend } from '../messages/index.js';
import type { InProcessTransport, TransportConnection, TransportMessage } from '../transports/index.js';
import type { Carried } from './recording-transport.js';

/** Options of `kit.deliver`. */
export interface DeliverOptions extends ContextOptions {
  /** The id of the message, a UUID. Default: a new one. */
  readonly messageId?: MessageId | undefined;
  /** The service that sends it. Default: `elsewhere`. */
  readonly from?: string | undefined;
}

/** Stands for the other services: what they send arrives through the transport. */
export class Outside {
  readonly #service: string;
  readonly #connection: TransportConnection;
  readonly #carried: Carried;
  readonly #onSend: () => void;

  private constructor(
    service: string,
    connection: TransportConnection,
    carried: Carried,
    onSend: () => void,
  ) {
    this.#service = service;
    this.#connection = connection;
    this.#carried = carried;
    this.#onSend = onSend;
  }

  static async connect(
    service: string,
    transport: InProcessTransport,
    pool: ConnectionPool,
    { carried, onSend }: { carried: Carried; onSend: () => void },
  ): Promise<Outside> {
    const instance = {
      serviceName: `outside of ${service}`,
      instanceId: newMessageId(),
      hostName: 'test',
      processId: process.pid,
    };
    const connection = await transport.connect({
      instance,
      pool,
      schema: defaultSchema,
      logger: silentLogger,
      onState,
    });
    return new Outside(service, connection, carried, onSend);
  }

  async deliver(
    message: MessageToSend,
    { from = 'elsewhere', ...options }: DeliverOptions,
  ): Promise<MessageId> {
    const dispatcher = new Dispatcher({
      service: from,
      sealer: notSealing,
      instanceId: newMessageId(),
      outbox: { store: async (messages) => this.#send(messages.map((each) => onTheWay(each, from))) },
    });
    return message.definition.kind === 'command'
      ? dispatcher.send(message as MessageToSend<'command'>, { ...options, to: this.#service })
      : dispatcher.publish(message as MessageToSend<'event'>, options);
  }

  /** Delivers the same message again, byte for byte, as after a lost acknowledgement. */
  async redeliver(messageId: MessageId): Promise<void> {
    const message = this.#carried.get(messageId);
    if (message === undefined) {
      throw new AssertionError({
        message: `Message ${messageId} was not delivered yet, so it cannot be delivered again. Await quiet() first.`,
        operator: 'redeliver',
      });
    }
    await this.#send([message]);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #send(messages: readonly TransportMessage[]): Promise<void> {
    this.#onSend();
    await this.#connection.send(messages, new AbortController().signal);
    for (const message of messages) this.#carried.set(message.messageId, message);
  }
}

export function onTheWay(message: NewOutboxMessage, source: string): TransportMessage {
  const { messageId, destination, eventType, eventData, metadata, scope = null, streamId = null } = message;
  const content = { type: eventType, payload: eventData, metadata, scope, streamId };
  return { messageId, address: destination, ...content, source, sequence: null, sentAt: null };
}

/** Nobody asks whether the outside can be reached. */
const onState = () => {};
