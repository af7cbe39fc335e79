import type { WhizbangError } from '../errors.js';
import type { LostLease, WorkBatch } from '../message.js';
import type { WorkUnit } from './strategy.js';

/** What `CallLine.run` resolves to. */
export interface RunResult {
  /** The work handed out to this run, and every lost lease of its calls. */
  readonly batch: WorkBatch;
  /** Units that the database refused one by one. Everything else of the run is committed. */
  readonly refused: ReadonlyMap<WorkUnit, WhizbangError>;
}

/**
 * Callbacks that report what became of each unit, before the next call is put together. They must not throw.
 */
export interface Fate {
  carried(unit: WorkUnit): void;
  refused(unit: WorkUnit, error: WhizbangError): void;
  /** The run rejects, and these units were not committed, or that is unknown. They are in their order. */
  unsent(units: readonly WorkUnit[]): void;
}

/** Options of `CallLine.run`. */
export interface RunOptions {
  /**
   * Whether the caller reads the batch. Called when a call is put together. A run that does not read it
   * must not be given work: the items would stay leased and unhandled until the lease ends. Default: yes.
   */
  readonly takesWork?: () => boolean;
  readonly fate?: Fate;
}

export const noWork: WorkBatch = Object.freeze({ outbox: [], inbox: [], perspectives: [], leaseLost: [] });

/**
 * Units that are submitted together, with the promise for
 * all of them. They go in one call or in several in a row.
 */
export class Run {
  readonly finished: Promise<RunResult>;
  readonly leaseLost: LostLease[] = [];
  readonly #refusals = new Map<WorkUnit, WhizbangError>();
  readonly #source: () => readonly WorkUnit[];
  readonly #options: RunOptions;
  /** Undefined until its first call is put together. */
  #units: readonly WorkUnit[] | undefined;
  /** How many units are, or were, in a call. */
  #taken = 0;
  /** How many units are carried or refused. Units are settled in their order. */
  #settled = 0;
  #resolve!: (result: RunResult) => void;
  #reject!: (error: Error) => void;

  constructor(source: () => readonly WorkUnit[], options: RunOptions) {
    this.#source = source;
    this.#options = options;
    this.finished = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get takesWork(): boolean {
    return this.#options.takesWork?.() ?? true;
  }

  /** The first unit that no call has had yet. */
  get next(): WorkUnit | undefined {
    return this.#all()[this.#taken];
  }

  get isSettled(): boolean {
    return this.#settled === this.#all().length;
  }

  /** Notes that a call has the next unit. */
  take(): void {
    this.#taken++;
  }

  carried(unit: WorkUnit): void {
    this.#settled++;
    this.#options.fate?.carried(unit);
  }

  refused(unit: WorkUnit, error: WhizbangError): void {
    this.#settled++;
    this.#refusals.set(unit, error);
    this.#options.fate?.refused(unit, error);
  }

  finish(work: WorkBatch): void {
    this.#resolve({ batch: { ...work, leaseLost: this.leaseLost }, refused: this.#refusals });
  }

  fail(error: WhizbangError): void {
    this.#options.fate?.unsent(this.#all().slice(this.#settled));
    this.#reject(error);
  }

  #all(): readonly WorkUnit[] {
    if (this.#units !== undefined) return this.#units;
    try {
      this.#units = [...this.#source()];
    } catch (error) {
      this.#units = [];
      this.#reject(error as Error); // other runs must not fail with it
    }
    return this.#units;
  }
}
