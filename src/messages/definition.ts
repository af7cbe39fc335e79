import type { MessageKind } from './envelope.js';
import type { Sealing } from './sealing.js';
import type { StandardSchema } from './standard-schema.js';

/**
 * A kind of message. Calling it with a payload makes a message to send. `Input` is what a sender passes,
 * `Output` is what the schema makes of it for handlers, `Result` is what `invoke` returns (void: nothing).
 * `MessageDefinition` without arguments stands for any of them: it cannot be called, and its payload is
 * unknown.
 */
export interface MessageDefinition<
  out Kind extends MessageKind = MessageKind,
  in Input = never,
  out Output = unknown,
  out Result = unknown,
> {
  (payload: Input): MessageToSend<Kind, Result>;
  readonly kind: Kind;
  /** The name of the type in transports and in the tables (`event_type`). */
  readonly type: string;
  /** Earlier names of the type: what was stored under them is of this kind. */
  readonly formerly: readonly string[];
  /** What the stream is about, if it was given: `aggregate_type` of its events. */
  readonly aggregate: string | undefined;
  /** The address: an event's topic, by default its type; or the service that receives a command. */
  readonly address: string | undefined;
  readonly schemaVersion: number;
  readonly schema: StandardSchema<unknown, Output>;
  readonly resultSchema: StandardSchema<unknown, Result> | undefined;
  /** The stream of a valid payload, a UUID; null when the message has no stream. */
  streamOf(payload: Output): string | null;
  /** Which fields of an event are sealed, and for whom; undefined: none. */
  readonly sealed: Sealing | undefined;
  /** Upcasters from version n to n + 1, by n. */
  readonly upcasters: Readonly<Record<number, Upcaster>>;
}

/** The result of `defineEvent`. Calling it with a payload makes a message. */
export type EventDefinition<Input = never, Output = unknown> = MessageDefinition<
  'event',
  Input,
  Output,
  void
>;

/** The result of `defineCommand`. Calling it with a payload makes a message. */
export type CommandDefinition<Input = never, Output = unknown, Result = unknown> = MessageDefinition<
  'command',
  Input,
  Output,
  Result
>;

/**
 * A message made by its definition, not yet validated and not yet sent. The variance is declared, because
 * this type and the definition refer to each other: without it the compiler accepts a command as an event.
 */
export interface MessageToSend<out Kind extends MessageKind = MessageKind, out Result = unknown> {
  readonly definition: MessageDefinition<Kind, never, unknown, Result>;
  readonly payload: unknown;
}

/**
 * An upcaster. Its type is written as a method, so that users may declare the old payload's type: `(old:
 * OrderV1) => …`.
 */
export type Upcaster = { upcast(payload: unknown): unknown }['upcast'];

/** An upcaster to the current version: it makes what the schema takes. */
type LastUpcaster<Input> = { upcast(payload: unknown): Input | Promise<Input> }['upcast'];

/** The upcasters of a definition, by the version that they start from. The last one is checked against the schema. */
export type Upcasters<Input, Version extends number> = Readonly<Record<number, Upcaster>> & {
  readonly [From in VersionBefore<Version>]?: LastUpcaster<Input>;
};

/** The version before a literal one, up to 999; none for a version that the compiler does not know. */
type VersionBefore<Version extends number> =
  ListOf<Version> extends readonly [unknown, ...infer Rest] ? Rest['length'] : never;
type ListOf<Length extends number, List extends readonly unknown[] = []> = List['length'] extends Length
  ? List
  : ListOf<Length, [...List, unknown]>;

/** The payload of a definition, as handlers get it: `PayloadOf<typeof OrderPlaced>`. */
export type PayloadOf<Definition extends MessageDefinition> =
  Definition extends MessageDefinition<MessageKind, never, infer Output, unknown> ? Output : never;

export function isMessageToSend(value: unknown): value is MessageToSend {
  const definition = (value as Partial<MessageToSend> | null | undefined)?.definition;
  return typeof definition === 'function' && (definition.kind === 'event' || definition.kind === 'command');
}

export function isEventDefinition(value: unknown): value is EventDefinition {
  return typeof value === 'function' && (value as Partial<MessageDefinition>).kind === 'event';
}
