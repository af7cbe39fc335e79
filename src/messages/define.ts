// A kind of message becomes a value that is called to make messages of that kind.
// In: a type, a schema, a rule for the stream. Out: a frozen definition, or INVALID_OPTION.
// Called by users where their modules are loaded. It never validates a payload: that happens when it is sent.
import type {
  CommandDefinition,
  EventDefinition,
  MessageDefinition,
  MessageToSend,
  Upcasters,
} from './definition.js';
import { type GivenDefinition, resolveDefinition } from './definition-options.js';
import type { MessageKind } from './envelope.js';
import type { SchemaInput, SchemaOutput, StandardSchema } from './standard-schema.js';
import { streamOfRule } from './stream-id.js';

interface DefinitionOptions<S extends StandardSchema, Version extends number> {
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
  readonly version?: Version | undefined;
  /**
   * For every lower version, a function that turns its payload into one of the next version. The last one makes what
   * the schema takes.
   */
  readonly upcast?: Upcasters<SchemaInput<S>, Version> | undefined;
}

/** Options of `defineEvent`. */
export interface EventOptions<
  S extends StandardSchema,
  Field extends SealableField<S> = SealableField<S>,
  Version extends number = number,
> extends DefinitionOptions<S, Version> {
  /** The address that services subscribe to. Default: the type. */
  readonly topic?: string | undefined;
  /** Earlier names of the type. What was stored or sent under them is this event. */
  readonly formerly?: readonly string[] | undefined;
  /** What the stream is about, for readers of the event store (`aggregate_type`). Default: derived from the type. */
  readonly aggregate?: string | undefined;
  /** Fields that are encrypted wherever the event is stored or sent, until their subject is forgotten. Default: none. */
  readonly sealed?: SealedOptions<S, Field> | undefined;
}

/** The option `sealed` of `defineEvent`: personal data that `forget(subject)` erases. */
export interface SealedOptions<S extends StandardSchema, Field extends SealableField<S>> {
  /** Returns whose data it is, for example the id of a customer. It is stored as it is. */
  readonly subject: (payload: SchemaOutput<S>) => string;
  /** The fields to seal. Whoever reads the event gets null for them when the subject is forgotten. */
  readonly fields: readonly Field[];
  /**
   * Values that the schema accepts for erased fields. They are read as null all the same. Needed only where the
   * schema accepts neither null nor a common value.
   */
  readonly standIns?: { readonly [Key in Field]?: SchemaInput<S>[Key] } | undefined;
}

/** A field that can be sealed: one that the payload has before and after its schema. */
type SealableField<S extends StandardSchema> = keyof SchemaInput<S> & keyof SchemaOutput<S> & string;

/** A payload whose sealed fields may be erased. */
type Erasable<Output, Field extends PropertyKey> = [Field] extends [never]
  ? Output
  : { [Key in keyof Output]: Key extends Field ? Output[Key] | null : Output[Key] };

/** Options of `defineCommand`. */
export interface CommandOptions<S extends StandardSchema, Version extends number = number>
  extends DefinitionOptions<S, Version> {
  /** The service that handles it. */
  readonly to?: string | undefined;
  readonly result?: undefined;
}

/** Options of `defineCommand` for a command with a result that `invoke` returns. */
export interface CommandWithResultOptions<S extends StandardSchema, Result, Version extends number = number>
  extends Omit<CommandOptions<S, Version>, 'result'> {
  /**
   * The schema of what the receptor must return, and `invoke` returns. It validates and does not transform.
   */
  readonly result: StandardSchema<Result, Result>;
}

/** Defines an event: something that has happened. Every service that subscribes to it gets it. */
export function defineEvent<
  S extends StandardSchema,
  Field extends SealableField<S> = never,
  const Version extends number = number,
>(
  type: string,
  options: EventOptions<S, Field, Version>,
): EventDefinition<SchemaInput<S>, Erasable<SchemaOutput<S>, Field>> {
  return define('event', type, options) as EventDefinition<SchemaInput<S>, Erasable<SchemaOutput<S>, Field>>;
}

/** Defines a command: something to be done. One service gets it. */
export function defineCommand<S extends StandardSchema, Result, const Version extends number = number>(
  type: string,
  options: CommandWithResultOptions<S, Result, Version>,
): CommandDefinition<SchemaInput<S>, SchemaOutput<S>, Result>;
// A separate overload, so that the result is always void: inferred, it could become the type that is expected
// there.
export function defineCommand<S extends StandardSchema, const Version extends number = number>(
  type: string,
  options: CommandOptions<S, Version>,
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
    sealed: given.sealed,
    upcasters: Object.freeze({ ...given.upcast }),
  };
  const definition: MessageDefinition = Object.freeze(
    Object.assign(Object.defineProperty(make, 'name', { value: type }), facts),
  );
  return definition;
}
