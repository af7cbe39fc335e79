// A perspective whose tables are the user's: its functions write in a transaction of the user's library.
// In: definitions with a function each. Out: a frozen CustomPerspective. It runs none of them.
import type { EventDefinition, MessageToSend } from '../messages/index.js';
import { fingerprintOf, refuseNoFunction, type StepsByType, withStep } from './event-steps.js';
import { resolveCustom } from './perspective-options.js';
import type { StoredEvent } from './stored-event.js';

/** What a function of `perspectiveFor` gets besides the payload. */
interface PerspectiveContext<Tx, Payload = unknown> {
  /** The transaction in which the perspective moves past the event. What is written in it takes effect once. */
  readonly tx: Tx;
  readonly event: StoredEvent<Payload>;
  /** Publishes in this transaction. Nothing is published while the perspective is built again. */
  readonly publish: (message: MessageToSend<'event'> | readonly MessageToSend<'event'>[]) => Promise<void>;
}

/** What an event does, by a function of the user's. */
interface CustomStep<Tx> {
  readonly definition: EventDefinition;
  readonly handle: Handle<Tx>;
}

/** Written as a method, so that users may declare the payload's type. */
type Handle<Tx> = { handle(payload: unknown, context: PerspectiveContext<Tx>): unknown }['handle'];

/** Empties what a perspective has written. */
type Reset<Tx> = { reset(context: Pick<PerspectiveContext<Tx>, 'tx'>): unknown }['reset'];

/** Tables that user code keeps up to date, made by `perspectiveFor`. */
export interface CustomPerspective<Tx> {
  readonly kind: 'custom';
  readonly name: string;
  readonly version: number;
  readonly steps: StepsByType<CustomStep<Tx>>;
  /** What a rebuild begins with, if it was given. */
  readonly reset: Reset<Tx> | undefined;
  /** The types that it reads, with their earlier names. */
  readonly eventTypes: readonly string[];
  /** Identifies the code: the same for the same functions. */
  readonly fingerprint: string;
  /** Adds what is done with an event. Returns a new perspective. */
  on<Output>(
    definition: EventDefinition<never, Output>,
    handle: (payload: Output, context: PerspectiveContext<Tx, Output>) => Promise<void> | void,
  ): CustomPerspective<Tx>;
  /** Sets the function that empties its tables: a rebuild begins with it. Returns a new perspective. */
  resets(reset: (context: Pick<PerspectiveContext<Tx>, 'tx'>) => Promise<void> | void): CustomPerspective<Tx>;
}

/** Options of a perspective made by `perspectiveFor`. */
interface CustomPerspectiveOptions {
  /** Raise it when the functions change. Default: 1. */
  readonly version?: number | undefined;
}

/**
 * Returns a function that makes perspectives in transactions of an ORM: `perspectiveFor<Tx>()('stock')
 * .on(OrderPlaced, async (order, { tx }) => …)`.
 */
export function perspectiveFor<Tx>(): (
  name: string,
  options?: CustomPerspectiveOptions,
) => CustomPerspective<Tx> {
  return (name, options = {}) => build<Tx>(resolveCustom(name, options), new Map(), undefined);
}

function build<Tx>(
  facts: { readonly name: string; readonly version: number },
  steps: StepsByType<CustomStep<Tx>>,
  reset: Reset<Tx> | undefined,
): CustomPerspective<Tx> {
  const { name, version } = facts;
  const owner = (member: string) => `perspectiveFor()("${name}").${member}`;
  const texts = [...steps].map(([type, step]) => [type, step.definition.schemaVersion, String(step.handle)]);
  const made: CustomPerspective<Tx> = {
    kind: 'custom',
    ...facts,
    steps,
    reset,
    eventTypes: Object.freeze([...steps.keys()]),
    fingerprint: fingerprintOf(version, ['custom', texts]),
    on(definition, handle) {
      const example = `.on(${definition?.type}, async (payload, { tx }) => { … })`;
      refuseNoFunction(owner('on'), 'handle', handle, example);
      const step: CustomStep<Tx> = { definition, handle: handle as CustomStep<Tx>['handle'] };
      return build(facts, withStep(owner('on'), steps, step), reset);
    },
    resets(given) {
      refuseNoFunction(owner('resets'), 'reset', given, '.resets(async ({ tx }) => { … })');
      return build(facts, steps, given);
    },
  };
  return Object.freeze(made);
}
