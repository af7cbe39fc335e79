// Forgets ids of messages that were handled, and deletes dead letters and what operators did, after so many days: a few at a time.
// In: the days. Out: fewer rows. A duty of retention, in every instance; PostgreSQL lets one of them do a step at a time.
// It never forgets the id of a message that waits or is a dead letter.
import { expire } from '../coordinator/index.js';
import type { StoreAccess } from '../events/index.js';
import type { Logger } from '../logger.js';
import type { Duty } from './duty.js';

/** For how many days what is done with is kept. Undefined: for ever. */
export interface KeptDays {
  readonly deduplicationDays?: number | undefined;
  readonly deadLetterDays?: number | undefined;
  readonly operationDays?: number | undefined;
}

/** What operators did is kept for two years, where anything is deleted at all. */
const operationDays = 730;

/** Time between two steps: each reads 32 blocks at most, some 4 000 ids. */
const stepMs = 1_000;
/** Time until it asks again whether there is a step to do. */
const restMs = 30_000;

export class MessageRetention implements Duty {
  readonly #access: StoreAccess;
  readonly #days: KeptDays;
  readonly #logger: Logger;

  constructor(access: StoreAccess, days: KeptDays, logger: Logger) {
    this.#access = access;
    this.#days = { ...days, operationDays: days.operationDays ?? operationDays };
    this.#logger = logger;
  }

  async do(): Promise<number> {
    const expired = await this.#access.ask(undefined, (db, schema) => expire(db, schema, this.#days));
    if (expired === undefined) return restMs * (0.5 + Math.random());
    this.#logger.debug(expired, 'Retention has made a step');
    return stepMs;
  }
}
