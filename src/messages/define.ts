// A kind of message becomes a value that is called to make messages of that kind.
// In: a type, a schema, a rule for the stream. Out: a frozen definition, or INVALID_OPTION.
// Called by users where their modules are loaded. It never validates a payload: that happens when it is sent.
import type {
  CommandDefinition,
  EventDefinition,
  MessageDefinition,
  MessageToSend,
  Upcaster,
} from './definition.js';
import { type GivenDefinition, resolveDefinition } from './definition-options.js';
import type { MessageKind } from './envelope.js';
import type { SchemaInput, SchemaOutput, StandardSchema } from './standard-schema.js';
import { streamOfRule } from './stream-id.js';

interface DefinitionOptions<S extends StandardSchema> {
  /**
   * A schema of zod, valibot, arktype or any other library with Standard Schema. It validates
   * what is sent: JSON.
   */
  readonly schema: S;
  /**
   * The stream of a payload. Messages of one stream are handled in order. A UUID is used as the stream's id;
   * other text gets one.
   */
  readonly stream?: ((payload: SchemaOutput<S>) => string | null | undefined) | undefined;
  /**
   * Version of the payload. Raise it when the payload changes so that old ones no longer pass. Default: 1.
   */
  readonly version?: number | undefined;
  /** For every lower version, a function that turns its payload into one of the next version. */
  readonly upcast?: Readonly<Record<number, Upcaster>> | undefined;
}

/** Options of `defineEvent`. */
export interface EventOptions<S extends StandardSchema> extends DefinitionOptions<S> {
  /** The address that services subscribe to. Default: the type. */
  readonly topic?: string | undefined;
  /** Earlier names of the type. What was stored or sent under them is this event. */
  readonly formerly?: readonly string[] | undefined;
  /** What the stream is about, for readers of the event store (`aggregate_type`). Default: derived from the type. */
  readonly aggregate?: string | undefined;
}

/** Options of `defineCommand`. */
export interface CommandOptions<S extends StandardSchema> extends DefinitionOptions<S> {
  /** The service that handles it. */
  readonly to?: string | undefined;
  readonly result?: undefined;
}

/** Options of `defineCommand` for a command with a result that `invoke` returns. */
export interface CommandWithResultOptions<S extends StandardSchema, Result>
  extends Omit<CommandOptions<S>, 'result'> {
  /**
   * The schema of what the receptor must return, and `invoke` returns. It validates and does not transform.
   */
  readonly result: StandardSchema<Result, Result>;
}

/** Defines an event: something that has happened. Every service that subscribes to it gets it. */
export function defineEvent<S extends StandardSchema>(
  type: string,
  options: EventOptions<S>,
): EventDefinition<SchemaInput<S>, SchemaOutput<S>> {
  return define('event', type, options) as EventDefinition<SchemaInput<S>, SchemaOutput<S>>;
}

/** Defines a command: something to be done. One service gets it. */
export function defineCommand<S extends StandardSchema, Result>(
  type: string,
  options: CommandWithResultOptions<S, Result>,
): CommandDefinition<SchemaInput<S>, SchemaOutput<S>, Result>;
// A separate overload, so that the result is always void: inferred, it could become the type that is expected
// there.
export function defineCommand<S extends StandardSchema>(
  type: string,
  options: CommandOptions<S>,
): CommandDefinition<SchemaInput<S>, SchemaOutput<S>, void>;
export function defineCommand(type: string, options: object): CommandDefinition {
  return define('command', type, options) as CommandDefinition;
}

function define(kind: MessageKind, type: string, options: object): MessageDefinition {
  const given: GivenDefinition = resolveDefinition(kind, type, options);
  const make = (payload: unknown): MessageToSend => Object.freeze({ definition, payload });
  const facts = {
    kind,
    type,
    formerly: Object.freeze([...given.formerly]),
    aggregate: given.aggregate,
    address: given.address,
    schemaVersion: given.version,
    schema: given.schema,
    resultSchema: given.result,
    streamOf: streamOfRule(type, given.stream),
    upcasters: Object.freeze({ ...given.upcast }),
  };
  const definition: MessageDefinition = Object.freeze(
    Object.assign(Object.defineProperty(make, 'name', { value: type }), facts),
  );
  return definition;
}
