import type { MessageId, NewOutboxMessage } from '../message.js';
import {
  type Envelope,
  type MessageDefinition,
  type MessageKind,
  type MessageToSend,
  validateResult,
} from '../messages/index.js';
import { type SendingInstance, toOutgoing } from './outgoing.js';
import { prepareMessages, refuseOtherKind } from './prepare.js';
import { noDestination, noReceptor } from './refusals.js';
import { type Method, resolveSendOptions } from './resolve-send-options.js';
import type {
  InvokeOptions,
  PublishManyOptions,
  PublishOptions,
  SendManyOptions,
  SendOptions,
  UniqueOptions,
} from './send-options.js';
import type { OneOrMany, Sender } from './sender.js';
import { noTransaction, type UniqueReceipt, type UniqueSending } from './unique-sending.js';

/** Stores what the dispatcher sends. */
export interface OutboxWriter {
  /**
   * Stores all messages or none, in this order. With a
   * transaction: as a part of it. Resolves when they are stored.
   */
  store(messages: readonly NewOutboxMessage[], tx: unknown): Promise<void>;
}

/** A command that is to be handled here and now. */
export interface Invocation {
  readonly definition: MessageDefinition<'command'>;
  readonly envelope: Envelope;
  readonly tx: unknown;
  readonly signal: AbortSignal | undefined;
  /** The writer of the dispatcher that invokes. */
  readonly outbox: OutboxWriter;
}

/** Runs the receptor of a command and returns its result. */
export type Invoker = (invocation: Invocation) => Promise<unknown>;

export interface DispatcherOptions extends SendingInstance {
  readonly outbox: OutboxWriter;
  readonly invoker?: Invoker | undefined;
  readonly unique?: UniqueSending | undefined;
  /** Returns the receiver of a command that names none: this service, when it has a receptor for it. */
  readonly defaultAddress?: ((definition: MessageDefinition) => string | undefined) | undefined;
}

/** Options that all dispatchers of an instance share: the sender, the invoker and the default address. */
export type Origin = Omit<DispatcherOptions, 'outbox' | 'parent'>;

type Sent = MessageId | MessageId[] | UniqueReceipt;

/** Sends messages. An instance and a scope are dispatchers, and `ctx` of a receptor uses one. */
export class Dispatcher implements Sender {
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Sends a command unless one with the same key was sent within the time. */
  send(command: MessageToSend<'command'>, options: SendOptions & UniqueOptions): Promise<UniqueReceipt>;
  /** Sends a command to the one service that handles it. Resolves with its id when it is stored. */
  send(command: MessageToSend<'command'>, options?: SendOptions): Promise<MessageId>;
  /** Sends many commands in one step: all of them are stored, in this order, or none. */
  send(commands: readonly MessageToSend<'command'>[], options?: SendManyOptions): Promise<MessageId[]>;
  send(commands: OneOrMany<'command'>, options?: SendManyOptions): Promise<MessageId | MessageId[]>;
  send(commands: OneOrMany<'command'>, options: SendOptions = {}): Promise<Sent> {
    return this.#dispatch('send', 'command', commands, options);
  }

  /** Publishes an event unless one with the same key was published within the time. */
  publish(event: MessageToSend<'event'>, options: PublishOptions & UniqueOptions): Promise<UniqueReceipt>;
  /** Publishes an event to all services that want it. Resolves with its id when it is stored. */
  publish(event: MessageToSend<'event'>, options?: PublishOptions): Promise<MessageId>;
  /** Publishes many events in one step: all of them are stored, in this order, or none. */
  publish(events: readonly MessageToSend<'event'>[], options?: PublishManyOptions): Promise<MessageId[]>;
  publish(events: OneOrMany<'event'>, options?: PublishManyOptions): Promise<MessageId | MessageId[]>;
  publish(events: OneOrMany<'event'>, options: PublishOptions = {}): Promise<Sent> {
    return this.#dispatch('publish', 'event', events, options);
  }

  /**
   * Runs the receptor of a command here and now, and returns its result. Nothing is stored for the command.
   */
  async invoke<Result>(
    command: MessageToSend<'command', Result>,
    options: InvokeOptions = {},
  ): Promise<Result> {
    refuseOtherKind(command, 'command', 'invoke');
    const { definition } = command;
    const { invoker, outbox } = this.#options;
    const { signal } = options;
    const { envelope: given, tx } = resolveSendOptions('invoke', options, 1);
    if (invoker === undefined) throw noReceptor(definition);
    const { envelope } = await toOutgoing(command, this.#options, given);
    signal?.throwIfAborted();
    const returned = await invoker({ definition, envelope, tx, signal, outbox });
    return (await validateResult(definition, returned)) as Result;
  }

  async #dispatch(
    method: Method,
    kind: MessageKind,
    given: MessageToSend | readonly MessageToSend[],
    options: SendOptions & PublishOptions,
  ): Promise<Sent> {
    const many = Array.isArray(given);
    if (!many) refuseOtherKind(given as MessageToSend, kind, method); // else its payload is taken for options
    const resolved = resolveSendOptions(method, options, many ? given.length : 1);
    if (many && given.length === 0) return [];
    const prepared = await prepareMessages(given, {
      method,
      kind,
      sender: this.#options,
      resolved,
      addressOf: (definition) => addressOf(this.#options, definition, resolved.to),
    });
    const [first] = prepared;
    if (resolved.unique !== undefined && first !== undefined) {
      return this.#sendUnique(method, first, resolved.unique, resolved.tx as object | undefined);
    }
    await this.#options.outbox.store(prepared, resolved.tx);
    const ids = prepared.map(({ messageId }) => messageId);
    return many ? ids : (ids[0] as MessageId);
  }

  async #sendUnique(
    method: Method,
    message: NewOutboxMessage,
    options: UniqueOptions,
    givenTx: object | undefined,
  ): Promise<UniqueReceipt> {
    const { unique, outbox, parent } = this.#options;
    const tx = givenTx ?? this.#options.tx;
    if (unique === undefined || (tx === undefined && parent !== undefined)) throw noTransaction(method);
    if (tx === undefined) return unique.sendAlone(message, options);
    return unique.send(message, options, tx, () => outbox.store([message], givenTx));
  }
}

/** Returns the receiver of a message, or refuses one that has none. */
export function addressOf(
  { defaultAddress }: Pick<DispatcherOptions, 'defaultAddress'>,
  definition: MessageDefinition,
  to: string | undefined,
): string {
  const address = to ?? definition.address ?? defaultAddress?.(definition);
  if (address === undefined) throw noDestination(definition);
  return address;
}

/** Makes the dispatcher of a receptor: what it sends continues the message that it handles. */
export function continuing(origin: Origin, parent: Envelope, outbox: OutboxWriter): Dispatcher {
  return new Dispatcher({ ...origin, parent, outbox });
}
