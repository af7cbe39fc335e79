// Keeps what became of finished messages for so many days: makes the partitions of wh_history ahead, and drops old ones.
// In: the option `history`. Out: tables. A duty of retention, in every instance; PostgreSQL lets one of them do it at a time.
// The rows themselves are written by the calls that finish messages.
import { keepHistory } from '../coordinator/index.js';
import type { StoreAccess } from '../events/index.js';
import type { Logger } from '../logger.js';
import { historyOptions, invalidOption, resolveOptions } from '../options.js';
import type { Duty } from './duty.js';

/** Which finished messages are remembered, and for how long. */
export interface HistoryOptions {
  /** Days after which they are forgotten. */
  readonly days: number;
  /** The share of streams, 0.01 to 1, of which all messages are remembered. Default: 1. */
  readonly share?: number | undefined;
}

/** Time between two looks: partitions are made three days ahead. */
const restMs = 600_000;

export class HistoryKeeping implements Duty {
  readonly #access: StoreAccess;
  readonly #days: number;
  readonly #logger: Logger;

  constructor(access: StoreAccess, { days }: HistoryOptions, logger: Logger) {
    this.#access = access;
    this.#days = days;
    this.#logger = logger;
  }

  async do(): Promise<number> {
    const done = await this.#access.ask(undefined, (db, schema) => keepHistory(db, schema, this.#days));
    if (done !== undefined) this.#logger.debug(done, 'The days of the history were made and dropped');
    return restMs * (0.5 + Math.random());
  }
}

/** Reads the option `history` of createWhizbang. */
export function resolveHistory(given: unknown): HistoryOptions | undefined {
  if (given === undefined) return undefined;
  const usage = 'For example history: { days: 7, share: 0.1 }.';
  if (typeof given !== 'object' || given === null)
    throw invalidOption('createWhizbang', 'history', 'history is not an object', usage);
  const { days, share } = resolveOptions('createWhizbang: history', historyOptions, { ...given });
  if (days === undefined) throw invalidOption('createWhizbang: history', 'days', 'days is missing', usage);
  return { days, share };
}
