// A perspective of one stream: what its events amount to, for queries.
// In: definitions with a pure function each. Out: a frozen Perspective.
// Called by users where their modules are loaded. Folded by `foldModels`; it never reads or stores anything.
import type { EventDefinition, SchemaOutput, StandardSchema } from '../messages/index.js';
import { invalidOption } from '../options.js';
import { type Announcer, withAnnouncer } from './announcer.js';
import { fingerprintOf, refuseNoFunction, type StepsByType, withStep } from './event-steps.js';
import { type ColumnOf, type ColumnType, type ModelTable, resolveModelTable } from './perspective-options.js';
import type { StoredEvent } from './stored-event.js';

/** Options of `perspective`. */
export interface PerspectiveOptions<S extends StandardSchema, Column extends string> {
  /**
   * The schema of a model. A model is stored as JSON. The functions and the queries get what the schema makes
   * of that JSON: a date is `z.coerce.date()`.
   */
  readonly model: S;
  /** Members of the model that are also columns, for filters and joins. */
  readonly columns?: Readonly<Record<Column, ColumnType>> | undefined;
  /** Indexes: lists of columns. */
  readonly indexes?: readonly (readonly NoInfer<Column>[])[] | undefined;
  /** True: the model is stored in the transaction that appends the event. Default: false. */
  readonly inline?: boolean | undefined;
  /** Raise it when the model or the functions change: the models are then built again. Default: 1. */
  readonly version?: number | undefined;
  /** How large a model may be, as JSON. Default: 1000000. */
  readonly maxModelBytes?: number | undefined;
}

/** What an event does to the model of its stream. */
export type PerspectiveStep = { readonly definition: EventDefinition } & (
  | { readonly does: 'starts'; readonly apply: (payload: unknown, event: StoredEvent) => unknown }
  | {
      readonly does: 'changes';
      readonly apply: (model: unknown, payload: unknown, event: StoredEvent) => unknown;
    }
  | { readonly does: 'ends' }
);

/** Models that follow from the events of one stream each, made by `perspective`. */
export interface Perspective<Model, Column extends string = string> {
  readonly kind: 'stream';
  readonly name: string;
  readonly version: number;
  readonly inline: boolean;
  readonly schema: StandardSchema<unknown, Model>;
  readonly columns: Readonly<Record<Column, ColumnType>>;
  readonly indexes: readonly (readonly Column[])[];
  readonly maxModelBytes: number;
  readonly steps: StepsByType<PerspectiveStep>;
  readonly announcers: readonly Announcer[];
  /** The types that it reads, with their earlier names. */
  readonly eventTypes: readonly string[];
  /** Identifies the code: the same for the same functions. */
  readonly fingerprint: string;
  /** Adds the event that a model begins with. Returns a new perspective, as all of these do. */
  starts<Output>(
    definition: EventDefinition<never, Output>,
    apply: (payload: Output, event: StoredEvent<Output>) => Model,
  ): Perspective<Model, Column>;
  /** Adds what an event makes of the model. */
  on<Output>(
    definition: EventDefinition<never, Output>,
    apply: (model: Model, payload: Output, event: StoredEvent<Output>) => Model,
  ): Perspective<Model, Column>;
  /** Adds an event after which there is no model. */
  ends(definition: EventDefinition): Perspective<Model, Column>;
  /** Publishes an event when an event has changed the model. `before` is null when it has begun. */
  announces<Input>(
    definition: EventDefinition<Input>,
    make: (model: Model, before: Model | null) => NoInfer<Input> | undefined,
  ): Perspective<Model, Column>;
}

/** Makes a perspective: `perspective('orders', { model }).starts(OrderPlaced, (placed) => …).on(…)`. */
export function perspective<S extends StandardSchema, Column extends ColumnOf<SchemaOutput<S>> = never>(
  name: string,
  options: PerspectiveOptions<S, Column>,
): Perspective<SchemaOutput<S>, Column> {
  const table = resolveModelTable('perspective', name, options, ['inline']);
  const { inline = false } = options;
  if (typeof inline !== 'boolean') {
    const hint = 'Give true, or leave it out.';
    throw invalidOption(`perspective("${name}")`, 'inline', 'inline is neither true nor false', hint);
  }
  const made = build({ ...table, inline }, new Map(), []);
  return made as Perspective<SchemaOutput<S>, Column>;
}

function build(
  facts: ModelTable & { readonly inline: boolean },
  steps: StepsByType<PerspectiveStep>,
  announcers: readonly Announcer[],
): Perspective<unknown> {
  const { name, version, columns, indexes } = facts;
  const owner = (member: string) => `perspective("${name}").${member}`;
  const adding = (member: string, step: PerspectiveStep) =>
    build(facts, withStep(owner(member), steps, step), announcers);
  const texts = [...steps].map(([type, step]) => [
    type,
    step.definition.schemaVersion,
    step.does,
    step.does === 'ends' ? '' : String(step.apply),
  ]);
  const announced = announcers.map(({ definition, make }) => [definition.type, String(make)]);
  const made: Perspective<unknown> = {
    kind: 'stream',
    ...facts,
    steps,
    announcers,
    eventTypes: Object.freeze([...steps.keys()]),
    fingerprint: fingerprintOf(version, ['stream', columns, indexes, texts, announced]),
    starts(definition, apply) {
      const example = `.starts(${definition?.type}, (payload) => ({ … }))`;
      refuseNoFunction(owner('starts'), 'apply', apply, example);
      return adding('starts', { definition, does: 'starts', apply: apply as never });
    },
    on(definition, apply) {
      const example = `.on(${definition?.type}, (model, payload) => ({ ...model }))`;
      refuseNoFunction(owner('on'), 'apply', apply, example);
      return adding('on', { definition, does: 'changes', apply: apply as never });
    },
    ends: (definition) => adding('ends', { definition, does: 'ends' }),
    announces: (definition, make) =>
      build(facts, steps, withAnnouncer(owner('announces'), announcers, definition, make)),
  };
  return Object.freeze(made);
}
