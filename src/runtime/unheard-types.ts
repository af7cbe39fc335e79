import type { Logger } from '../logger.js';
import type { WhizbangEmitter } from './events.js';

const mostTypes = 1_000;

/** Counts, by type, the events that no service has subscribed to, and logs each type once. */
export class UnheardTypes {
  readonly #logger: Logger;
  readonly #events: WhizbangEmitter;
  readonly #counts = new Map<string, number>();

  constructor(logger: Logger, events: WhizbangEmitter) {
    this.#logger = logger;
    this.#events = events;
  }

  add(type: string, more: number): void {
    const before = this.#counts.get(type);
    if (before === undefined && this.#counts.size >= mostTypes) return;
    const count = (before ?? 0) + more;
    this.#counts.set(type, count);
    if (before === undefined)
      this.#logger.warn(
        {
          type,
          hint: `If a service is to get it that has not started yet: whizbang subscribe ${type} --schema …`,
        },
        'Published an event that no service has ever subscribed to; nobody gets it',
      );
    this.#events.emit('unheard', { type, count });
  }
}
