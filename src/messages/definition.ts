import type { MessageKind } from './envelope.js';
import type { StandardSchema } from './standard-schema.js';

/**
 * A kind of message: called with a payload it makes a message to send. `Input` is what a sender writes, `Output`
 * what the schema makes of it for handlers, `Result` what invoking it answers (void: nothing).
 * `MessageDefinition` without arguments is any of them: nobody can call it, and its payload is unknown.
 */
export interface MessageDefinition<
  out Kind extends MessageKind = MessageKind,
  in Input = never,
  out Output = unknown,
  out Result = unknown,
> {
  (payload: Input): MessageToSend<Kind, Result>;
  readonly kind: Kind;
  /** What it is called on the way and in the tables (`event_type`). */
  readonly type: string;
  /** Where it goes: an event's topic, by default its type; a command's receiving service. */
  readonly address: string | undefined;
  readonly schemaVersion: number;
  readonly schema: StandardSchema<unknown, Output>;
  readonly resultSchema: StandardSchema<unknown, Result> | undefined;
  /** The stream a valid payload belongs to, a UUID; null when it is on its own. */
  streamOf(payload: Output): string | null;
  /** From version n to n + 1, by n. */
  readonly upcasters: Readonly<Record<number, Upcaster>>;
}

/** What `defineEvent` makes: called with a payload it makes a message. */
export type EventDefinition<Input = never, Output = unknown> = MessageDefinition<
  'event',
  Input,
  Output,
  void
>;

/** What `defineCommand` makes: called with a payload it makes a message. */
export type CommandDefinition<Input = never, Output = unknown, Result = unknown> = MessageDefinition<
  'command',
  Input,
  Output,
  Result
>;

/**
 * A message made by its definition, not checked and not sent yet. Without the variance written down, the compiler
 * gets lost between the two types, which name each other, and takes a command for an event.
 */
export interface MessageToSend<out Kind extends MessageKind = MessageKind, out Result = unknown> {
  readonly definition: MessageDefinition<Kind, never, unknown, Result>;
  readonly payload: unknown;
}

/** Written as a method, so that a user may say what the old payload looked like: `(old: OrderV1) => …`. */
export type Upcaster = { upcast(payload: unknown): unknown }['upcast'];

export function isMessageToSend(value: unknown): value is MessageToSend {
  const definition = (value as Partial<MessageToSend> | null | undefined)?.definition;
  return typeof definition === 'function' && (definition.kind === 'event' || definition.kind === 'command');
}
