import { auditTicks } from '../coordinator/index.js';
import type { Logger } from '../logger.js';
import type { StoreAccess } from './store-access.js';

/** How often the ticks are audited by whoever reads events. */
export const auditMs = 60_000;

/** Looks by another method for events that ticks have missed. There are none, unless ticks are broken. */
export class TickAudit {
  readonly #access: StoreAccess;
  readonly #logger: Logger;
  #auditedAt = performance.now();

  constructor(access: StoreAccess, logger: Logger) {
    this.#access = access;
    this.#logger = logger;
  }

  /** Audits if the last time was a minute ago. Returns whether it has found events, which are in a tick now. */
  async sometimes(): Promise<boolean> {
    if (performance.now() - this.#auditedAt < auditMs) return false;
    const numbers = await this.#access.ask(undefined, (db, schema) => auditTicks(db, schema));
    this.#auditedAt = performance.now();
    if (numbers.length === 0) return false;
    const facts = { code: 'EVENT_FOUND_LATE', sequenceNumbers: numbers.slice(0, 20), count: numbers.length };
    this.#logger.error(
      facts,
      'Events were found that no tick had; they are read now. Please report this as a bug',
    );
    return true;
  }
}
