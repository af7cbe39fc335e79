// Archives, forgets and deletes what is old, by the option `retention`.
// In: the option. Out: duties that every instance does now and then, in small steps.
// Started and stopped by the composition root. What fails is logged, and tried again later.
import { describeError } from '../describe-error.js';
import type { StoreAccess } from '../events/index.js';
import type { Logger } from '../logger.js';
import { invalidOption, refuseUnknownKeys, resolveOptions, retentionOptions } from '../options.js';
import { type Duty, pauseUnless } from './duty.js';
import { HistoryKeeping, type HistoryOptions, resolveHistory } from './history.js';
import { type KeptDays, MessageRetention } from './message-retention.js';
import { type RetentionRule, retentionRules, StreamRetention } from './stream-retention.js';

/** How long things are kept. What is left out is kept for ever. */
export interface RetentionOptions extends KeptDays {
  /** Rules by which old streams of the event store are archived or deleted. */
  readonly events?: readonly RetentionRule[] | undefined;
  /**
   * Days after which the ids of handled messages are forgotten, with the records of their receptors. A message that
   * is delivered again later than that is handled again.
   */
  readonly deduplicationDays?: number | undefined;
  /** Days after which dead letters are deleted. */
  readonly deadLetterDays?: number | undefined;
  /** Days after which the rows of what operators did are deleted. Default: 730, if one of the other days is given. */
  readonly operationDays?: number | undefined;
}

/** The options `retention` and `history`. */
interface Resolved extends RetentionOptions {
  readonly history?: HistoryOptions | undefined;
}

/** Time until a duty that failed is tried again. */
const failedMs = 600_000;

export class Retention {
  readonly #duties: readonly Duty[];
  readonly #logger: Logger;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(access: StoreAccess, { events = [], history, ...days }: Resolved, logger: Logger) {
    const keepsAll = Object.values(days).every((each) => each === undefined);
    this.#duties = [
      ...(events.length > 0 ? [new StreamRetention(access, events)] : []),
      ...(keepsAll ? [] : [new MessageRetention(access, days, logger)]),
      ...(history === undefined ? [] : [new HistoryKeeping(access, history, logger)]),
    ];
    this.#logger = logger;
  }

  start(): void {
    this.#running = Promise.all(this.#duties.map((duty) => this.#run(duty)));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(duty: Duty): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) await pauseUnless(signal, await this.#do(duty, signal));
  }

  async #do(duty: Duty, signal: AbortSignal): Promise<number> {
    try {
      return await duty.do(signal);
    } catch (error) {
      this.#logger.warn({ error: describeError(error) }, 'Retention failed; it is tried again later');
      return failedMs;
    }
  }
}

/** Reads the options `retention` and `history` of createWhizbang. */
export function resolveRetention(given: unknown, history: unknown): Resolved {
  const owner = 'createWhizbang: retention';
  const resolved = { history: resolveHistory(history) };
  if (given === undefined) return resolved;
  if (typeof given !== 'object' || given === null) {
    const usage = 'For example retention: { deduplicationDays: 90, deadLetterDays: 365 }.';
    throw invalidOption('createWhizbang', 'retention', 'retention is not an object', usage);
  }
  refuseUnknownKeys(owner, { ...given }, ['events', ...Object.keys(retentionOptions)]);
  const { events, ...days } = given as RetentionOptions;
  return { ...resolved, ...resolveOptions(owner, retentionOptions, days), events: retentionRules(events) };
}
