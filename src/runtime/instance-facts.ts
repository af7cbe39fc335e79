import { packageVersion } from '../version.js';
import { machineName } from './machine.js';

/** Where this process runs: see local-instances.ts. */
export const machine = machineName();

/** How often they are said: as often as a heartbeat is written. */
const everyMs = 1_000;

/** What an instance says of itself with its calls, for who operates it: `wh_instances` shows it. */
export class InstanceFacts {
  handled = 0;
  failed = 0;
  published = 0;
  orderViolations = 0;
  #calls = 0;
  #saidAt = Number.NEGATIVE_INFINITY;
  readonly #observes: () => boolean;

  /** `observes`: whether it could tell the metrics of the whole service. */
  constructor(observes: () => boolean) {
    this.#observes = observes;
  }

  /** Returns what goes with the next call. Undefined: it was said a moment ago. */
  next(): Readonly<Record<string, unknown>> | undefined {
    this.#calls += 1;
    const now = performance.now();
    if (now - this.#saidAt < everyMs) return undefined;
    this.#saidAt = now;
    const { handled, failed, published, orderViolations } = this;
    const counts = { handled, failed, published, orderViolations, calls: this.#calls };
    return { version: packageVersion, machine, ...counts, ...(this.#observes() && { observes: true }) };
  }
}
