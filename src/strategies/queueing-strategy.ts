// A strategy: a queue, one run of it at a time, and what happens when that fails.
// In: units. Out: runs on the call line. The strategies differ in when a run begins by itself (when.ts).
import { WhizbangError } from '../errors.js';
import { consoleLogger, type Logger } from '../logger.js';
import type { WorkBatch } from '../message.js';
import { type GivenOptions, resolveOptions, strategyOptions } from '../options.js';
import type { CallLine } from './call-line.js';
import { QueuedEntry } from './queued-entry.js';
import { noWork, type RunResult } from './run.js';
import type { QueuedUnit, WorkCoordinatorStrategy, WorkUnit } from './strategy.js';
import { UnitShorthand } from './unit-shorthand.js';
import { type StrategyName, strategies, type When } from './when.js';
import { checkUnit } from './work-unit.js';

export interface StrategyOptions extends GivenOptions<typeof strategyOptions> {
  /** The line of the instance. All its strategies share it. */
  readonly line: CallLine;
  /**
   * Receives errors that no caller awaits: of a failed flush that began by itself,
   * and of a refused unit whose `carried` was not read. Default: they are logged.
   */
  readonly onError?: ((error: WhizbangError) => void) | undefined;
  readonly logger?: Logger | undefined;
}

/** A run that waits in the line. A flush that is called meanwhile joins it. */
interface WaitingRun {
  /** How many flushes wait for its batch. */
  flushes: number;
  readonly finished: Promise<RunResult>;
}

const longestPauseMs = 5_000;

export class QueueingStrategy extends UnitShorthand implements WorkCoordinatorStrategy {
  readonly #when: When;
  readonly #line: CallLine;
  readonly #onError: (error: WhizbangError) => void;
  readonly #logger: Logger;
  #queue = new Set<QueuedEntry>();
  /** How many a call has, or are to go with the next calls of the same run. */
  #inFlight = 0;
  #waiting: WaitingRun | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #isDisposed = false;
  #disposing: Promise<void> | undefined;

  constructor(name: StrategyName, options: StrategyOptions) {
    super();
    const others = ['line', 'onError', 'logger'];
    this.#when = strategies[name](resolveOptions(name, strategyOptions, { ...options }, others));
    this.#line = options.line;
    this.#logger = options.logger ?? consoleLogger;
    // The error itself is not logged: its cause may show the row that was refused.
    this.#onError = options.onError ?? ((error) => this.#logger.error({ code: error.code }, error.message));
  }

  queue(unit: WorkUnit): QueuedUnit {
    this.#refuseIfDisposed();
    checkUnit(unit);
    const entry: QueuedEntry = new QueuedEntry(unit, () => this.#queue.delete(entry));
    this.#queue.add(entry);
    const delayMs = this.#when.delayMs(this.#queue.size, this.#isFailing);
    if (delayMs === 0) this.#startRun();
    else if (delayMs !== undefined) this.#startRunIn(delayMs);
    return entry;
  }

  async flush(): Promise<WorkBatch> {
    this.#refuseIfDisposed();
    const run = this.#startRun();
    const isFirst = run.flushes++ === 0;
    const { batch } = await run.finished;
    return isFirst ? batch : { ...noWork, leaseLost: batch.leaseLost };
  }

  dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#disposing ??= this.#flushForTheLastTime().finally(() => {
      this.#disposing = Promise.resolve(); // the first `dispose` has already rejected with the error
    });
    return this.#disposing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  get #isFailing(): boolean {
    return this.#failures > 0;
  }

  /**
   * Returns the run that waits in the line, or starts one. It sends
   * all that is queued by the time its call is put together.
   */
  #startRun(): WaitingRun {
    if (this.#waiting !== undefined) return this.#waiting;
    let taken: ReadonlyMap<WorkUnit, QueuedEntry>;
    const backFromCall = (unit: WorkUnit): QueuedEntry => {
      this.#inFlight--;
      return taken.get(unit) as QueuedEntry;
    };
    const source = () => {
      taken = this.#takeQueue();
      return [...taken.keys()];
    };
    const finished = this.#line.run(source, {
      takesWork: () => run.flushes > 0,
      fate: {
        carried: (unit) => backFromCall(unit).resolve(),
        refused: (unit, error) => {
          const entry = backFromCall(unit);
          entry.reject(error);
          // One turn after the run: a caller may await the flush first and read `carried` next.
          void ended.then(() => setImmediate(() => entry.isHeard || this.#report(error)));
        },
        unsent: (units) => {
          this.#queue = new Set([...units.map(backFromCall), ...this.#queue]);
        },
      },
    });
    const run: WaitingRun = { flushes: 0, finished };
    const ended = finished.then(
      () => this.#succeeded(),
      (error: WhizbangError) => this.#failed(error, run),
    );
    this.#waiting = run;
    return run;
  }

  /** A new set for the next run: one that is cleared or refilled keeps what was in it until old memory is collected. */
  #takeQueue(): ReadonlyMap<WorkUnit, QueuedEntry> {
    this.#waiting = undefined;
    const taken = new Map<WorkUnit, QueuedEntry>();
    for (const entry of this.#queue) taken.set(entry.unit, entry);
    this.#queue = new Set();
    this.#inFlight += taken.size;
    return taken;
  }

  /** Starts a run after `delayMs`, or after the longer pause that follows several failures. */
  #startRunIn(delayMs: number): void {
    if (this.#timer !== undefined || this.#isDisposed) return;
    const pauseMs = Math.min(delayMs * 2 ** Math.max(this.#failures - 1, 0), longestPauseMs);
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        if (this.#queue.size > 0) this.#startRun();
      },
      Math.max(pauseMs, delayMs),
    );
    // Units that were not tried yet keep the process alive. A database that stays unreachable must not.
    if (this.#isFailing) this.#timer.unref();
  }

  #succeeded(): void {
    if (!this.#isFailing) return;
    this.#failures = 0;
    this.#stopTimer();
    this.#goOn();
  }

  #failed(error: WhizbangError, run: WaitingRun): void {
    this.#failures++;
    if (run.flushes === 0 && !this.#isDisposed) this.#report(error);
    this.#goOn();
  }

  #goOn(): void {
    const { pauseMs } = this.#when;
    if (pauseMs !== undefined && this.#queue.size > 0) this.#startRunIn(pauseMs);
  }

  async #flushForTheLastTime(): Promise<void> {
    this.#stopTimer();
    if (this.#queue.size === 0 && this.#inFlight === 0 && this.#waiting === undefined) return;
    try {
      await this.#startRun().finished;
    } catch (cause) {
      const message = 'The strategy was disposed, and its last flush failed before this unit was sent.';
      for (const entry of this.#queue) entry.reject(new WhizbangError('DISPOSED', { message, cause }));
      this.#queue.clear();
      throw cause;
    }
  }

  #report(error: WhizbangError): void {
    try {
      this.#onError(error);
    } catch (thrown) {
      this.#logger.error({ err: thrown }, 'The onError of a strategy threw an error');
    }
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #refuseIfDisposed(): void {
    if (this.#isDisposed) throw new WhizbangError('DISPOSED', { message: 'The strategy is disposed.' });
  }
}
