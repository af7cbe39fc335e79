import { WhizbangError } from '../errors.js';
import { type Decider, type Decision, foldEvents } from '../fold/index.js';
import type { StreamId } from '../message.js';
import { newMessageId } from '../message-id.js';
import { type MessageToSend, validatePayload } from '../messages/index.js';
import { complaint, differenceLines, nothingAsked, show } from './complaint.js';
import { differences } from './differences.js';
import { storedEvents, validEvent } from './stored-events.js';

/** A decision, as `decide` takes it. */
type Decide<State> = (state: State, version: number) => Decision | Promise<Decision>;

/** The events of a stream on whose state something is decided. */
export class GivenEvents<State> {
  readonly #decider: Decider<State>;
  readonly #events: readonly MessageToSend<'event'>[];

  constructor(decider: Decider<State>, events: readonly MessageToSend<'event'>[]) {
    this.#decider = decider;
    this.#events = events;
  }

  /** The decision: what `decide` is given. It is called by `then`, `thenNothing` and `thenThrows`. */
  when(decision: Decide<State>): GivenDecision {
    return new GivenDecision(this.#decider.name, () => this.#decide(decision));
  }

  async #decide(decision: Decide<State>): Promise<Outcome> {
    const decider = this.#decider;
    let streamId: StreamId | undefined;
    const ofOneStream = (given: StreamId | null, type: string) => {
      if (given !== null && streamId !== undefined && given !== streamId)
        throw ofAnotherStream(decider, type);
      streamId ??= given ?? undefined;
      return streamId ?? unnamedStream;
    };
    const stored = await storedEvents(this.#events, ofOneStream);
    const { state, version } = await foldEvents(decider, { state: decider.initial, version: 0 }, stored);
    let decided: Decision;
    try {
      decided = await decision(state, version);
    } catch (thrown) {
      return { events: [], thrown: { error: thrown } };
    }
    const events = await Promise.all([decided ?? []].flat().map(asDecided));
    for (const event of events) {
      if (!decider.steps.has(event.type)) throw notFolded(decider, event.type);
      ofOneStream(event.streamId, event.type);
    }
    return { events };
  }
}

const unnamedStream = newMessageId();

/** An event that was decided, as JSON. */
interface Decided {
  readonly type: string;
  readonly payload: unknown;
  readonly streamId: StreamId | null;
}

interface Outcome {
  readonly events: readonly Decided[];
  readonly thrown?: { readonly error: unknown };
}

async function asDecided(event: MessageToSend<'event'>): Promise<Decided> {
  const { definition } = validEvent(event);
  const { payload, json } = await validatePayload(definition, event.payload);
  return { type: definition.type, payload: json, streamId: definition.streamOf(payload) };
}

/** What a decision may throw: an error of this class, with this code, or whose message matches. */
type ThrownAs = (abstract new (...args: never[]) => Error) | string | RegExp;

/** A decision that is about to be made, to say what is expected of it. */
export class GivenDecision {
  readonly #name: string;
  readonly #outcome: () => Promise<Outcome>;

  constructor(name: string, outcome: () => Promise<Outcome>) {
    this.#name = name;
    this.#outcome = outcome;
  }

  /** Exactly these events are decided, in this order. Matchers (`expect.any(String)`) work in their payloads. */
  // biome-ignore lint/suspicious/noThenProperty: given, when, then; an await without an argument is refused
  async then(
    expected: MessageToSend<'event'> | readonly MessageToSend<'event'>[],
    ...rest: never[]
  ): Promise<void> {
    if (typeof expected === 'function')
      return refuseAwait(rest[0], 'given(…).when(…)', '.then([…]), .thenNothing() or .thenThrows(…)');
    const wanted = [expected].flat().map((event) => {
      const { definition, payload } = validEvent(event);
      return { type: definition.type, payload };
    });
    const actual = (await this.#decided()).map(({ type, payload }) => ({ type, payload }));
    const found = [...differences(actual, wanted, { whole: true })];
    if (found.length === 0) return;
    const message = `${this.#name} decided otherwise:\n${differenceLines(found)}\nDecided: ${listOf(actual)}\nExpected: ${listOf(wanted)}`;
    throw complaint(message, { actual, expected: wanted, operator: 'then' });
  }

  /** Nothing is decided. */
  async thenNothing(): Promise<void> {
    const actual = await this.#decided();
    if (actual.length === 0) return;
    const message = `${this.#name} decided, and nothing was expected: ${listOf(actual)}`;
    throw complaint(message, { actual, expected: [], operator: 'thenNothing' });
  }

  /** The decision throws: an error of this class, with this code, or with a message that matches. */
  async thenThrows(expected: ThrownAs): Promise<void> {
    const { events, thrown } = await this.#outcome();
    const wanted = typeof expected === 'function' ? expected.name : String(expected);
    if (thrown === undefined) {
      const message = `${this.#name} did not throw ${wanted}. Decided: ${listOf(events)}`;
      throw complaint(message, { actual: events, expected, operator: 'thenThrows' });
    }
    const { error } = thrown;
    if (isThrownAs(error, expected)) return;
    const message = `${this.#name} threw something else than ${wanted}: ${show(error)}`;
    throw complaint(message, { actual: error, expected, operator: 'thenThrows' }, error);
  }

  async #decided(): Promise<readonly Decided[]> {
    const { events, thrown } = await this.#outcome();
    if (thrown !== undefined) throw thrown.error;
    return events;
  }
}

/** `await` calls `then` with two functions. */
function refuseAwait(reject: unknown, what: string, instead: string): void {
  (reject as (error: unknown) => void)(nothingAsked(what, instead));
}

function isThrownAs(error: unknown, expected: ThrownAs): boolean {
  if (typeof expected === 'string')
    return (error as { code?: unknown } | null | undefined)?.code === expected;
  if (expected instanceof RegExp)
    return expected.test(error instanceof Error ? error.message : String(error));
  return error instanceof expected;
}

function listOf(events: readonly Pick<Decided, 'type' | 'payload'>[]): string {
  if (events.length === 0) return 'nothing';
  return events.map(({ type, payload }) => `\n- ${type} ${show(payload)}`).join('');
}

function ofAnotherStream({ name }: { readonly name: string }, type: string): WhizbangError {
  return new WhizbangError('INVALID_MESSAGE', {
    message: `${name}: this ${type} is of another stream than the events before it. A decision is on one stream.`,
    hint: 'Give all events the same id.',
    details: { type, issues: [] },
  });
}

function notFolded({ name }: { readonly name: string }, type: string): WhizbangError {
  return new WhizbangError('UNKNOWN_EVENT', {
    message: `${name} decided on ${type}, for which it has no function: its stream could not be loaded again.`,
    hint: `Add .on(${type}, …) to the decider.`,
    details: { name, type },
  });
}
