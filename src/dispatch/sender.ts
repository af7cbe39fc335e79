import type { MessageId } from '../message.js';
import type { MessageKind, MessageToSend } from '../messages/index.js';
import type {
  InvokeOptions,
  PublishManyOptions,
  PublishOptions,
  SendManyOptions,
  SendOptions,
  UniqueOptions,
} from './send-options.js';
import type { UniqueReceipt } from './unique-sending.js';

export type OneOrMany<Kind extends MessageKind> = MessageToSend<Kind> | readonly MessageToSend<Kind>[];

/**
 * Whoever sends: an instance, a scope, or `ctx` of a receptor. A function that takes a Sender can be called with
 * each of them. Inside a receptor, what any of them sends continues the message that is handled: its conversation,
 * cause, scope and trace.
 */
export interface Sender {
  /** Sends a command unless one with the same key was sent within the time. */
  send(command: MessageToSend<'command'>, options: SendOptions & UniqueOptions): Promise<UniqueReceipt>;
  /** Sends a command to the one service that handles it. Resolves with its id. */
  send(command: MessageToSend<'command'>, options?: SendOptions): Promise<MessageId>;
  /** Sends many commands in one step: all of them are stored, in this order, or none. */
  send(commands: readonly MessageToSend<'command'>[], options?: SendManyOptions): Promise<MessageId[]>;
  send(commands: OneOrMany<'command'>, options?: SendManyOptions): Promise<MessageId | MessageId[]>;
  /** Publishes an event unless one with the same key was published within the time. */
  publish(event: MessageToSend<'event'>, options: PublishOptions & UniqueOptions): Promise<UniqueReceipt>;
  /** Publishes an event to all services that want it. Resolves with its id. */
  publish(event: MessageToSend<'event'>, options?: PublishOptions): Promise<MessageId>;
  /** Publishes many events in one step: all of them are stored, in this order, or none. */
  publish(events: readonly MessageToSend<'event'>[], options?: PublishManyOptions): Promise<MessageId[]>;
  publish(events: OneOrMany<'event'>, options?: PublishManyOptions): Promise<MessageId | MessageId[]>;
  /** Runs the receptor of a command here and now, and returns its result. Nothing is stored for the command. */
  invoke<Result>(command: MessageToSend<'command', Result>, options?: InvokeOptions): Promise<Result>;
}
