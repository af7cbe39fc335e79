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
  /** Of zod, valibot, arktype or any other library with Standard Schema. It sees what travels: JSON. */
  readonly schema: S;
  /** Messages of one stream are handled in order. A UUID is the stream's id as it is; other text gets one. */
  readonly stream?: ((payload: SchemaOutput<S>) => string | null | undefined) | undefined;
  /** Raised when the payload changes so that old ones no longer pass. Default: 1. */
  readonly version?: number | undefined;
  /** For every version below: what makes a payload of the next one of it. */
  readonly upcast?: Readonly<Record<number, Upcaster>> | undefined;
}

/** Of `defineEvent`. */
export interface EventOptions<S extends StandardSchema> extends DefinitionOptions<S> {
  /** What services subscribe to. Default: the type. */
  readonly topic?: string | undefined;
}

/** Of `defineCommand`. */
export interface CommandOptions<S extends StandardSchema> extends DefinitionOptions<S> {
  /** The service that handles it. */
  readonly to?: string | undefined;
  readonly result?: undefined;
}

/** Of `defineCommand` for a command that `invoke` answers. */
export interface CommandWithResultOptions<S extends StandardSchema, Result>
  extends Omit<CommandOptions<S>, 'result'> {
  /** What `invoke` answers, and its receptor must return. It checks, it does not transform. */
  readonly result: StandardSchema<Result, Result>;
}

/** Something that has happened. Everyone who is interested gets it. */
export function defineEvent<S extends StandardSchema>(
  type: string,
  options: EventOptions<S>,
): EventDefinition<SchemaInput<S>, SchemaOutput<S>> {
  return define('event', type, options) as EventDefinition<SchemaInput<S>, SchemaOutput<S>>;
}

/** Something to be done. One service gets it. */
export function defineCommand<S extends StandardSchema, Result>(
  type: string,
  options: CommandWithResultOptions<S, Result>,
): CommandDefinition<SchemaInput<S>, SchemaOutput<S>, Result>;
// Apart, so that the result is void wherever the definition stands: inferred, it could become what is expected there.
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
