// A decider: what the events of a stream amount to, for decisions.
// In: definitions with a pure function each. Out: a frozen Decider; or a state, folded event by event.
// Called by users where their modules are loaded, and by the event store. It never reads or stores events.
import { WhizbangError } from '../errors.js';
import { type EventDefinition, isName } from '../messages/index.js';
import { deciderOptions, invalidOption, resolveOptions } from '../options.js';
import { deepFreeze } from './deep-freeze.js';
import { fingerprintOf, refuseNoEvent, refuseNoFunction, type StepsByType, withStep } from './event-steps.js';
import { foldFailed, messageOf } from './fold-failed.js';
import type { StoredEvent } from './stored-event.js';

/** Options of `decider`. */
export interface DeciderOptions<State> {
  /** The state of a stream without events. */
  readonly initial: State;
  /** Keeps the state after so many events, so that a load reads only those after it. Default: never. */
  readonly snapshotEvery?: number | undefined;
  /** Raise it when kept states must not be used any more and the functions look the same. Default: 1. */
  readonly foldVersion?: number | undefined;
}

/** A pure function: the state after an event. Its inputs are frozen. */
type Apply<State> = (state: State, payload: unknown, event: StoredEvent) => State;

interface Step<State> {
  readonly definition: EventDefinition;
  readonly apply: Apply<State>;
}

type Steps<State> = StepsByType<Step<State>>;

/** The state of a stream at a version. */
export interface Fold<State> {
  readonly state: State;
  /** The version of the stream that the state is of; 0: it has no events. */
  readonly version: number;
}

/** How the state of a stream follows from its events, made by `decider`. */
export interface Decider<State> {
  readonly name: string;
  readonly initial: State;
  readonly snapshotEvery: number | undefined;
  /** Identifies the code that folds. A kept state of another one is not used. */
  readonly fold: string;
  readonly steps: Steps<State>;
  /** Adds what an event makes of the state. Returns a new decider. */
  on<Output>(
    definition: EventDefinition<never, Output>,
    apply: (state: State, payload: Output, event: StoredEvent<Output>) => State,
  ): Decider<State>;
}

/**
 * Makes a decider: `decider('Order', { initial: { status: 'new' } }).on(OrderPlaced, (order, placed) => …)`.
 */
export function decider<State>(name: string, options: DeciderOptions<State>): Decider<State> {
  if (!isName(name)) throw invalidOption('decider', 'name', 'the name is not a text, or is empty', usage);
  const owner = `decider(${JSON.stringify(name)})`;
  if (typeof options !== 'object' || options === null || options.initial === undefined) {
    throw invalidOption(owner, 'initial', 'there is no initial state', usage);
  }
  const numbers = resolveOptions(owner, deciderOptions, { ...options }, ['initial']);
  return withSteps<State>({ name, initial: deepFreeze<State>(options.initial), ...numbers }, new Map());
}

const usage = 'For example decider("Order", { initial: { status: "new" } }).';

interface Facts<State> {
  readonly name: string;
  readonly initial: State;
  readonly snapshotEvery: number | undefined;
  readonly foldVersion: number;
}

function withSteps<State>(facts: Facts<State>, steps: Steps<State>): Decider<State> {
  const { name, initial, snapshotEvery } = facts;
  return Object.freeze({
    name,
    initial,
    snapshotEvery,
    fold: fingerprint(facts, steps),
    steps,
    on(definition: EventDefinition, apply: unknown) {
      const owner = `decider(${JSON.stringify(name)}).on`;
      refuseNoEvent(owner, definition);
      refuseNoFunction(owner, 'apply', apply, `.on(${definition.type}, (state, payload) => ({ ...state }))`);
      return withSteps(facts, withStep(owner, steps, { definition, apply: apply as Apply<State> }));
    },
  }) as Decider<State>;
}

/** The same for the same functions: the texts of all that decides what a state becomes. */
function fingerprint<State>({ initial, foldVersion }: Facts<State>, steps: Steps<State>): string {
  const texts = [...steps].map(([type, { definition, apply }]) => [
    type,
    definition.schemaVersion,
    String(apply),
  ]);
  return fingerprintOf(foldVersion, [initial, texts]);
}

/** Folds events, in the order of their versions, into the state before them. */
export async function foldEvents<State>(
  decider: Decider<State>,
  before: Fold<State>,
  events: Iterable<StoredEvent>,
): Promise<Fold<State>> {
  let { state, version } = before;
  for (const event of events) {
    const step = decider.steps.get(event.type);
    if (step === undefined) throw unknownEvent(decider, event);
    const read = event.read(step.definition);
    const payload = read instanceof Promise ? await read : read;
    state = apply(decider, step, state, payload, event);
    version = event.version;
  }
  return { state, version };
}

function apply<State>(
  { name }: Decider<State>,
  step: Step<State>,
  state: State,
  payload: unknown,
  event: StoredEvent,
): State {
  let next: State;
  try {
    next = step.apply(state, deepFreeze(payload), event);
  } catch (cause) {
    throw foldFailed(name, event, { fact: `threw ${messageOf(cause)}`, cause });
  }
  if (next === undefined) throw foldFailed(name, event, { fact: 'returned nothing' });
  return deepFreeze(next);
}

function unknownEvent({ name }: { name: string }, { type, streamId, version }: StoredEvent): WhizbangError {
  return new WhizbangError('UNKNOWN_EVENT', {
    message: `${name} has no function for ${type}, which is version ${version} of stream ${streamId}.`,
    details: { name, type, streamId, version },
  });
}
