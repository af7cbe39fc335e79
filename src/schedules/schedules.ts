import { listSchedules } from '../coordinator/index.js';
import type { StoreAccess } from '../events/index.js';
import type { CatchUp } from './schedule.js';

/** A schedule of the service, as the instances keep it. */
export interface ScheduleInfo {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly catchUp: CatchUp;
  /** The next time. Null: its pattern has none any more. */
  readonly nextAt: Date | null;
  /** The last time for which a message was sent. Null: none yet. */
  readonly lastAt: Date | null;
}

/** The schedules of the service. */
export class Schedules {
  readonly #access: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Lists the schedules by name. A new one is among them as soon as an instance with it has started. */
  async list(): Promise<readonly ScheduleInfo[]> {
    const rows = await this.#access.ask(undefined, (db, schema) => listSchedules(db, schema));
    return rows.map(({ name, cron, time_zone, catch_up, next_at, last_at }) => ({
      name,
      cron,
      timeZone: time_zone,
      catchUp: catch_up as CatchUp,
      nextAt: next_at === null ? null : new Date(next_at),
      lastAt: last_at === null ? null : new Date(last_at),
    }));
  }
}
