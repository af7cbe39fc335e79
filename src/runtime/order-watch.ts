// Tells of messages that this instance finished or stored out of order: a warning and a count for each.
// In: what wh_order_violations has of this instance. Out: lines of the log, and the count in its facts.
// Started and stopped with the workers. The evidence itself is written by the call that breaks the order.
import { orderWatch } from '../coordinator/index.js';
import { type ConnectionPool, withPooledClient } from '../database/index.js';
import type { Logger } from '../logger.js';
import type { Telemetry } from '../telemetry/index.js';
import { Alarm } from '../timers/index.js';
import type { InstanceFacts } from './instance-facts.js';

interface OrderWatchOptions {
  readonly pool: ConnectionPool;
  readonly schema: string;
  readonly instanceId: string;
  readonly facts: InstanceFacts;
  readonly telemetry: Pick<Telemetry, 'orderViolated'>;
  readonly logger: Logger;
}

const lookMs = 10_000;
const answerMs = 10_000;

export class OrderWatch {
  readonly #options: OrderWatchOptions;
  readonly #alarm: Alarm;
  #after = 0;
  #isNew = true;

  constructor(options: OrderWatchOptions) {
    this.#options = options;
    this.#alarm = new Alarm({
      look: async () => (this.#isNew ? this.#begin() : this.#look()),
      what: 'The look at violations of the order',
      logger: options.logger,
    });
  }

  async start(): Promise<void> {
    this.#alarm.start();
  }

  /** Looks at once. */
  wake(): void {
    this.#alarm.wake();
  }

  stop(): Promise<void> {
    return this.#alarm.stop();
  }

  /** An instance that has just started has done nothing yet. */
  #begin(): number {
    this.#isNew = false;
    return lookMs;
  }

  /** Tells what is new. Returns in how many milliseconds to look again. */
  async #look(): Promise<number> {
    const { pool, schema, instanceId, facts, telemetry, logger } = this.#options;
    const ask = () =>
      withPooledClient(pool, (db) => orderWatch(db, schema, instanceId, this.#after), answerMs);
    const { last, found } = await ask();
    const hasMoved = last > this.#after;
    this.#after = last;
    facts.orderViolations += found.length;
    for (const violation of found) {
      telemetry.orderViolated(violation.lane);
      logger.warn({ ...violation }, 'The order of a stream was broken; see wh_order_violations');
    }
    return hasMoved ? 0 : lookMs;
  }
}
