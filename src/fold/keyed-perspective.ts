// A perspective over many streams: which models an event concerns is a function of it.
// In: definitions with two pure functions each. Out: a frozen KeyedPerspective. Otherwise as perspective.ts.
import {
  copyAsJson,
  type EventDefinition,
  readIssues,
  type SchemaOutput,
  type StandardSchema,
} from '../messages/index.js';
import { invalidOption } from '../options.js';
import { type Announcer, withAnnouncer } from './announcer.js';
import { deepFreeze } from './deep-freeze.js';
import { fingerprintOf, refuseNoFunction, type StepsByType, withStep } from './event-steps.js';
import type { PerspectiveOptions } from './perspective.js';
import { type ColumnOf, type ColumnType, type ModelTable, resolveModelTable } from './perspective-options.js';
import type { StoredEvent } from './stored-event.js';

/** Options of `keyedPerspective`. It cannot be inline: two appends would wait for each other's models. */
export interface KeyedPerspectiveOptions<S extends StandardSchema, Column extends string>
  extends Omit<PerspectiveOptions<S, Column>, 'inline'> {
  /** The model of a key before its first event. */
  readonly initial: NoInfer<SchemaOutput<S>>;
}

/** What an event does to the models that it concerns. */
export interface KeyedStep {
  readonly does: 'changes';
  readonly definition: EventDefinition;
  readonly key: (payload: unknown, event: StoredEvent) => unknown;
  readonly apply: (model: unknown, payload: unknown, event: StoredEvent) => unknown;
}

/** Models by a key that follows from each event, made by `keyedPerspective`. */
export interface KeyedPerspective<Model, Column extends string = string> {
  readonly kind: 'keyed';
  readonly name: string;
  readonly version: number;
  readonly schema: StandardSchema<unknown, Model>;
  /** The model of a key before its first event, as JSON. */
  readonly initial: unknown;
  readonly columns: Readonly<Record<Column, ColumnType>>;
  readonly indexes: readonly (readonly Column[])[];
  readonly maxModelBytes: number;
  readonly steps: StepsByType<KeyedStep>;
  readonly announcers: readonly Announcer[];
  /** The types that it reads, with their earlier names. */
  readonly eventTypes: readonly string[];
  /** Identifies the code: the same for the same functions. */
  readonly fingerprint: string;
  /**
   * Adds what an event makes of the models that it concerns. `key` returns the key of the model, or a list of
   * keys, which may be empty. Returns a new perspective.
   */
  on<Output>(
    definition: EventDefinition<never, Output>,
    key: (payload: Output, event: StoredEvent<Output>) => string | readonly string[],
    apply: (model: Model, payload: Output, event: StoredEvent<Output>) => Model,
  ): KeyedPerspective<Model, Column>;
  /** Publishes an event when an event has changed a model. `before` is null when it is the model's first. */
  announces<Input>(
    definition: EventDefinition<Input>,
    make: (model: Model, before: Model | null) => NoInfer<Input> | undefined,
  ): KeyedPerspective<Model, Column>;
}

/** Makes a perspective over many streams: `keyedPerspective('revenue', { model, initial }).on(Paid, key, apply)`. */
export function keyedPerspective<S extends StandardSchema, Column extends ColumnOf<SchemaOutput<S>> = never>(
  name: string,
  options: KeyedPerspectiveOptions<S, Column>,
): KeyedPerspective<SchemaOutput<S>, Column> {
  const table = resolveModelTable('keyedPerspective', name, options, ['initial']);
  const initial = resolveInitial(`keyedPerspective("${name}")`, table.schema, options.initial);
  const made = build({ ...table, initial }, new Map(), []);
  return made as KeyedPerspective<SchemaOutput<S>, Column>;
}

function resolveInitial(owner: string, schema: StandardSchema, given: unknown): unknown {
  const refuse = (fact: string) =>
    invalidOption(owner, 'initial', fact, 'Give a model that fits the schema after it was stored as JSON.');
  if (given === undefined || given === null) throw refuse('there is no initial model');
  const copy = copyAsJson(given);
  if (copy.fault !== undefined) throw refuse(`initial: ${copy.fault.path} ${copy.fault.message}`);
  const result = schema['~standard'].validate(copy.json);
  // One that cannot be known yet is validated with the first event.
  if (!(result instanceof Promise) && result.issues !== undefined) {
    const [issue] = readIssues(result.issues, copy.json);
    throw refuse(`initial does not fit the schema: ${issue?.path}: ${issue?.message}`);
  }
  return deepFreeze(copy.json);
}

function build(
  facts: ModelTable & { readonly initial: unknown },
  steps: StepsByType<KeyedStep>,
  announcers: readonly Announcer[],
): KeyedPerspective<unknown> {
  const { name, version, columns, indexes, initial } = facts;
  const owner = (member: string) => `keyedPerspective("${name}").${member}`;
  const texts = [...steps].map(([type, { definition, key, apply }]) => [
    type,
    definition.schemaVersion,
    String(key),
    String(apply),
  ]);
  const announced = announcers.map(({ definition, make }) => [definition.type, String(make)]);
  const made: KeyedPerspective<unknown> = {
    kind: 'keyed',
    ...facts,
    steps,
    announcers,
    eventTypes: Object.freeze([...steps.keys()]),
    fingerprint: fingerprintOf(version, ['keyed', initial, columns, indexes, texts, announced]),
    on(definition, key, apply) {
      const example = `.on(${definition?.type}, (payload) => payload.id, (model, payload) => ({ ...model }))`;
      refuseNoFunction(owner('on'), 'key', key, example);
      refuseNoFunction(owner('on'), 'apply', apply, example);
      const step = { definition, does: 'changes', key, apply } as KeyedStep;
      return build(facts, withStep(owner('on'), steps, step), announcers);
    },
    announces: (definition, make) =>
      build(facts, steps, withAnnouncer(owner('announces'), announcers, definition, make)),
  };
  return Object.freeze(made);
}
