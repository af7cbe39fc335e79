import { fireTimers } from '../coordinator/index.js';
import { type ConnectionPool, withPooledClient } from '../database/index.js';
import type { Logger } from '../logger.js';
import { Alarm } from './alarm.js';

interface TimekeeperOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  /** How often it looks while nobody tells it of new timers. */
  readonly pollIntervalMs: number;
  readonly isListening: () => boolean;
  /** Called when timers have been sent. */
  readonly onFired: () => void;
  readonly logger: Logger;
}

const answerMs = 10_000;
/** Longest pause while a timer waits: the clock of the database may be set forward. */
const longestPauseMs = 5_000;
/** Longest pause while none waits. Half of the time from which on new timers are not told: see wh_set_timers. */
const longestRestMs = 30_000;

/**
 * Sends timers when they are due. It knows the earliest one, sleeps until then, and is told of an earlier one.
 * All instances do so: one of them sends, the others find nothing to do.
 */
export class Timekeeper {
  readonly #options: TimekeeperOptions;
  readonly #alarm: Alarm;
  /** When the first timer is due, by the clock of the database. */
  #nextDue = Number.POSITIVE_INFINITY;
  /** The earliest timer that it was told of since it last asked. */
  #heard = Number.POSITIVE_INFINITY;

  constructor(options: TimekeeperOptions) {
    this.#options = options;
    this.#alarm = new Alarm({ look: () => this.#look(), what: 'Timers', logger: options.logger });
  }

  start(): void {
    this.#alarm.start();
  }

  stop(): Promise<void> {
    return this.#alarm.stop();
  }

  /** Takes a notification: a timer was set, due at this time by the clock of the database. 0: perhaps some were. */
  hear(due: number): void {
    this.#heard = Math.min(this.#heard, due);
    if (due < this.#nextDue) this.#alarm.wake();
  }

  async #look(): Promise<number> {
    const { pool, schema, pollIntervalMs, isListening, onFired } = this.#options;
    // What it is told of from now on may be missing in the answer.
    this.#heard = Number.POSITIVE_INFINITY;
    const ask = () => withPooledClient(pool, (db) => fireTimers(db, schema), answerMs);
    const { fired, nextDue = Number.POSITIVE_INFINITY, waitSeconds } = await ask();
    this.#nextDue = nextDue;
    if (fired > 0) onFired();
    if (this.#heard < nextDue) return 0;
    const longest = waitSeconds === undefined ? longestRestMs : longestPauseMs;
    const poll = isListening() ? longest : Math.min(longest, pollIntervalMs);
    return Math.min((waitSeconds ?? Number.POSITIVE_INFINITY) * 1000, poll);
  }
}
