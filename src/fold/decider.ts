// A decider: what the events of a stream amount to, for decisions.
// In: definitions with a pure function each. Out: a frozen Decider; or a state, folded event by event.
// Called by users where their modules are loaded, and by the event store. It never reads or stores events.
import { createHash } from 'node:crypto';
import { WhizbangError } from '../errors.js';
import { type EventDefinition, isName } from '../messages/index.js';
import { deciderOptions, invalidOption, resolveOptions } from '../options.js';
import { deepFreeze } from './deep-freeze.js';
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

/** The steps by the type of the event, also by its earlier names. */
type Steps<State> = ReadonlyMap<string, Step<State>>;

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
      if (typeof definition !== 'function' || definition.kind !== 'event') {
        const hint = 'Give what defineEvent has returned.';
        throw invalidOption(owner, 'definition', 'the first argument is not an event definition', hint);
      }
      if (typeof apply !== 'function') {
        const hint = `For example .on(${definition.type}, (state, payload) => ({ ...state })).`;
        throw invalidOption(owner, 'apply', `there is no function for ${definition.type}`, hint);
      }
      const step: Step<State> = { definition, apply: apply as Apply<State> };
      const names = [definition.type, ...definition.formerly];
      const twice = names.find((type) => steps.has(type));
      if (twice !== undefined) {
        const hint = 'An event changes the state by one function.';
        throw invalidOption(owner, 'definition', `${twice} has a function already`, hint);
      }
      return withSteps(facts, new Map([...steps, ...names.map((type) => [type, step] as const)]));
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
  const text = JSON.stringify([foldVersion, initial, texts], (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return `${foldVersion}:${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
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
    throw foldFailed(name, event, `threw ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  if (next === undefined) throw foldFailed(name, event, 'returned nothing', undefined);
  return deepFreeze(next);
}

function foldFailed(name: string, event: StoredEvent, fact: string, cause: unknown): WhizbangError {
  const { type, version, streamId } = event;
  return new WhizbangError('FOLD_FAILED', {
    message: `${name}: its function for ${type} (version ${version} of stream ${streamId}) ${fact}.`,
    details: { name, type, streamId, version },
    cause,
  });
}

function unknownEvent({ name }: { name: string }, { type, streamId, version }: StoredEvent): WhizbangError {
  return new WhizbangError('UNKNOWN_EVENT', {
    message: `${name} has no function for ${type}, which is version ${version} of stream ${streamId}.`,
    details: { name, type, streamId, version },
  });
}
