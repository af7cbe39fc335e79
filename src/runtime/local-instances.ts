// The instances of the service on the same machine. When the process of one is gone, it runs nothing any more: its leases end
// then, and not when their time is over.
// In: the instance, the name of its machine. Out: an update in the database, rarely. Started and stopped with the workers.
// It never judges by silence alone, nor by a host name: an instance elsewhere is left to its leases.
import { endLeases, type LocalInstance, localInstances } from '../coordinator/index.js';
import { type ConnectionPool, type Queryable, withPooledClient } from '../database/index.js';
import type { Logger } from '../logger.js';
import { Alarm } from '../timers/index.js';

interface LocalInstancesOptions {
  readonly pool: ConnectionPool;
  readonly schema: string;
  readonly instanceId: string;
  readonly machine: string;
  readonly onEnded: () => void;
  readonly logger: Logger;
}

/** How often the processes are looked at, which asks the operating system only. */
const lookMs = 1_000;
/** How often the database is asked who they are. */
const askMs = 15_000;
const answerMs = 10_000;

export class LocalInstances {
  readonly #options: LocalInstancesOptions;
  readonly #alarm: Alarm;
  #known: readonly LocalInstance[] = [];
  #askAt = Number.NEGATIVE_INFINITY;

  constructor(options: LocalInstancesOptions) {
    this.#options = options;
    this.#alarm = new Alarm({
      look: () => this.#look(),
      what: 'Leases of instances whose process is gone',
      logger: options.logger,
    });
  }

  async start(): Promise<void> {
    this.#alarm.start();
  }

  stop(): Promise<void> {
    return this.#alarm.stop();
  }

  async #look(): Promise<number> {
    const { instanceId, machine } = this.#options;
    if (performance.now() >= this.#askAt) {
      this.#known = await this.#ask((db, schema) => localInstances(db, schema, instanceId, machine));
      this.#askAt = performance.now() + askMs;
    }
    for (const each of this.#known) if (!isAlive(each.processId)) await this.#bury(each);
    return lookMs;
  }

  async #bury(instance: LocalInstance): Promise<void> {
    const { machine, logger, onEnded } = this.#options;
    const { instanceId, processId } = instance;
    const streams = await this.#ask((db, schema) => endLeases(db, schema, instanceId, machine));
    if (streams === undefined) return; // its last call was a moment ago
    this.#known = this.#known.filter((each) => each !== instance);
    logger.info(
      { instanceId, processId, streams },
      'The process of an instance is gone; its leases have ended',
    );
    onEnded();
  }

  #ask<T>(question: (db: Queryable, schema: string) => Promise<T>): Promise<T> {
    return withPooledClient(this.#options.pool, (db) => question(db, this.#options.schema), answerMs);
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
