import { isOutage } from '../database/index.js';
import { outageFacts } from '../describe-error.js';
import type { Logger } from '../logger.js';
import { Signal } from '../work/index.js';

interface AlarmOptions {
  /** Does what is due. Returns in how many milliseconds to look again. */
  readonly look: () => Promise<number>;
  /** What is late while it fails, for the log. */
  readonly what: string;
  readonly logger: Logger;
}

const firstRetryMs = 100;
const longestRetryMs = 5_000;

/** Looks when something is due, and when it is woken. A look that fails is repeated, for ever. */
export class Alarm {
  readonly #options: AlarmOptions;
  readonly #signal = new Signal();
  #isStopped = false;
  #retryMs = 0;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: AlarmOptions) {
    this.#options = options;
  }

  start(): void {
    this.#ended = this.#run();
  }

  wake(): void {
    this.#signal.set();
  }

  /** Resolves when the look that is under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#signal.set();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const ms = await this.#look();
      if (!this.#isStopped && ms > 0) await this.#signal.wait(Math.ceil(ms));
    }
  }

  async #look(): Promise<number> {
    const { look, logger, what } = this.#options;
    try {
      const ms = await look();
      this.#retryMs = 0;
      return ms;
    } catch (error) {
      // Once per outage, and not for one of the database, which the loop reports.
      if (this.#retryMs === 0 && !isOutage(error)) logger.error(outageFacts(error), `${what} are late`);
      this.#retryMs = Math.min(Math.max(this.#retryMs * 2, firstRetryMs), longestRetryMs);
      return this.#retryMs * (0.5 + Math.random() / 2);
    }
  }
}
