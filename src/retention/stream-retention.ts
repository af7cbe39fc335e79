// Archives and deletes streams by rule: those whose last event is old enough, a few at a time.
// In: rules. Out: streams that were archived or deleted, each in a transaction of its own.
// A duty of retention, in every instance. It never touches a stream that has gone on meanwhile.
import { idleStreams } from '../coordinator/index.js';
import { WhizbangError } from '../errors.js';
import { archive, remove, type StoreAccess } from '../events/index.js';
import type { EventDefinition } from '../messages/index.js';
import { invalidOption, resolveOptions, retentionRuleOptions } from '../options.js';
import { type Duty, pauseUnless } from './duty.js';

/** A rule of retention: which streams, after how many days without an event, and what is done then. */
export interface RetentionRule {
  /** Streams whose last event is of this aggregate (`defineEvent(…, { aggregate })`). This or `last`, or both. */
  readonly aggregate?: string | undefined;
  /** Streams whose last event is one of these, for example OrderClosed. */
  readonly last?: readonly EventDefinition[] | undefined;
  /** Days since the last event of the stream. */
  readonly days: number;
  readonly action: 'archive' | 'delete';
}

/** Time between two steps: each looks at 500 events at most. */
const stepMs = 1_000;
/** Time between two passes through all events. */
const passMs = 600_000;

export class StreamRetention implements Duty {
  readonly #access: StoreAccess;
  readonly #rules: readonly RetentionRule[];

  constructor(access: StoreAccess, rules: readonly RetentionRule[]) {
    this.#access = access;
    this.#rules = rules;
  }

  async do(signal: AbortSignal): Promise<number> {
    await this.pass(signal);
    // Not all instances at the same time: two of them do no harm, but one is enough.
    return passMs * (0.5 + Math.random());
  }

  /** Goes through all events once. Returns how many streams were archived or deleted. */
  async pass(signal: AbortSignal, pauseMs = stepMs): Promise<number> {
    let done = 0;
    for (const rule of this.#rules) {
      for (let after: number | null = 0; after !== null && !signal.aborted; ) {
        const step = await this.#step(rule, after, signal);
        done += step.done;
        after = step.after;
        await pauseUnless(signal, pauseMs);
      }
    }
    return done;
  }

  async #step(
    rule: RetentionRule,
    place: number,
    signal: AbortSignal,
  ): Promise<{ done: number; after: number | null }> {
    const question = {
      after: place,
      days: rule.days,
      aggregate: rule.aggregate,
      types: rule.last?.flatMap(({ type, formerly }) => [type, ...formerly]),
      archived: rule.action === 'delete',
    };
    const { streams, after } = await this.#access.ask(undefined, (db, schema) =>
      idleStreams(db, schema, question),
    );
    let done = 0;
    for (const { stream_id, version } of streams) {
      if (signal.aborted) break;
      try {
        await (rule.action === 'archive' ? archive : remove)(this.#access, stream_id, version);
        done++;
      } catch (error) {
        // It has gone on, or something is in the way: the next pass comes by again.
        const isLater = error instanceof WhizbangError && error.code === 'STREAM_NOT_READY';
        if (!isLater) throw error;
      }
    }
    return { done, after };
  }
}

const usage = 'For example retention: { events: [{ last: [OrderClosed], days: 90, action: "archive" }] }.';

function resolveRule(rule: RetentionRule, i: number): RetentionRule {
  const owner = `createWhizbang: retention.events[${i}]`;
  const refuse = (isWrong: boolean, option: string, fact: string) => {
    if (isWrong) throw invalidOption(owner, option, fact, usage);
  };
  refuse(typeof rule !== 'object' || rule === null, 'retention', 'it is not a rule');
  const { days } = resolveOptions(owner, retentionRuleOptions, { ...rule }, ['aggregate', 'last', 'action']);
  const { aggregate, last, action } = rule;
  refuse(days === undefined, 'days', 'days is missing');
  refuse(action !== 'archive' && action !== 'delete', 'action', 'action is neither "archive" nor "delete"');
  refuse(
    aggregate === undefined && last === undefined,
    'last',
    'it names neither an aggregate nor last events',
  );
  refuse(aggregate !== undefined && typeof aggregate !== 'string', 'aggregate', 'aggregate is not a name');
  const isList = last === undefined || (Array.isArray(last) && last.every((each) => each?.kind === 'event'));
  refuse(!isList, 'last', 'last is not a list of event definitions');
  return { ...rule, days: days as number };
}

/** Reads the rules of the option `retention` of createWhizbang. */
export function retentionRules(events: unknown = []): readonly RetentionRule[] {
  if (Array.isArray(events)) return (events as RetentionRule[]).map(resolveRule);
  throw invalidOption('createWhizbang', 'retention.events', 'retention.events is not a list of rules', usage);
}
