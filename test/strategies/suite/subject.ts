// What the tests of one strategy share: a workbench for each test, strategies on it, and the errors they tell of.
// Made once in a describe; its fields are there while the tests run.
import { afterEach, beforeEach } from 'vitest';
import type { WhizbangError } from '../../../src/errors.js';
import {
  type CreateStrategyOptions,
  createStrategy,
  type StrategyName,
  type WorkCoordinatorStrategy,
} from '../../../src/strategies/index.js';
import { waitUntilBlocked } from '../../support/sessions.js';
import { openWorkbench, type Workbench } from '../workbench.js';

export class StrategySubject {
  bench!: Workbench;
  errors: WhizbangError[] = [];
  readonly #name: StrategyName;

  constructor(name: StrategyName) {
    this.#name = name;
    beforeEach(async () => {
      this.bench = await openWorkbench();
      this.errors = [];
    });
    afterEach(() => this.bench[Symbol.asyncDispose]());
  }

  /** The interval is so long that a test sees only the flushes it makes itself. */
  strategy(more: Partial<CreateStrategyOptions> = {}): WorkCoordinatorStrategy {
    return createStrategy(this.#name, {
      coordinator: this.bench.coordinator,
      intervalMs: 60_000,
      onError: (error) => this.errors.push(error),
      ...more,
    } as CreateStrategyOptions);
  }

  /** The backend that waits for the session with this process id. */
  async blockedBackend(holder: number): Promise<number> {
    const { db } = this.bench;
    for (;;) {
      const { rows } = await db.pool.query<{ pid: number }>(
        'select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
        [holder],
      );
      if (rows[0] !== undefined) {
        await waitUntilBlocked(db, rows[0].pid);
        return rows[0].pid;
      }
    }
  }
}
